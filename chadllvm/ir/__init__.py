"""The core language and the imperative loop language, with what reads and checks them."""
