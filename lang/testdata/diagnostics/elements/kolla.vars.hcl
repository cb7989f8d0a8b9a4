nodes = {
  a = {
    disk = [
      { size = 1 },
      { size = 2, fats = true },
      { size = "big" },
    ]
    nmae = "x"
  }
  "b.1" = { disks = [] }
  c     = "x"
  d     = ["x"]
  e     = { disk = [null] }
}
