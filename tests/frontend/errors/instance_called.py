class Model:
    def __init__(self):
        self.w = 1.0

    def __call__(self, x):
        return x


model = Model()


def f(x: float):
    return model(x)
