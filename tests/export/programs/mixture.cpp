// The same in C++: a header that C++ cannot read would be found here.

#include "../../../examples/gmm_fit.c"
