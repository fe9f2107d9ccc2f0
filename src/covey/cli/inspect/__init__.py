"""`covey inspect`: what a model holds."""
