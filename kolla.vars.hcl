t = { a = { n = 1 }, b = { n = "x", prt = 3 }, c = {} }
sz = var.t
