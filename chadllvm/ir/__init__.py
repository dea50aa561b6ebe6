"""The core language and the loop language, with what reads and checks them."""
