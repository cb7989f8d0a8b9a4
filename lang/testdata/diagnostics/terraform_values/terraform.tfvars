a = "hunter2"
given = "x"
other = 1
