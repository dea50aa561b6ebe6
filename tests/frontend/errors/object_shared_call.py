from dataclasses import dataclass


@dataclass
class Ball:
    height: float
    speed: float = 0.0


def itself(ball: Ball) -> Ball:
    return ball


def f(x: float) -> float:
    ball = Ball(x)
    other = itself(ball)
    ball.speed = 1.0
    return other.speed
