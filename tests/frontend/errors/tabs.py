# fmt: off
def f(x: float):
	if x > 0:
		return x + foo
	return x
