// The same in C++: a header that C++ cannot read would be found here.

#include "mixture.c"
