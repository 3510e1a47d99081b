"""Scripts that measure, train and draw; none of them is needed to play."""
