regoin = "x"
