cloud "test" {
  release = "2025.1"
}

locals {
  # Functions that are not here, and what to do instead.
  bcrypt          = bcrypt("x")
  ephemeralasnull = ephemeralasnull("x")
  list            = list("x")
  map             = map("x", "y")
  plantimestamp   = plantimestamp()
  rsadecrypt      = rsadecrypt("x", "y")
  timestamp       = timestamp()
  type            = type("x")
  uuid            = uuid()
  near            = yamldecodeal("x")
  none            = provider::aws::arn_parse("x")

  # Arguments that do not fit.
  documents = yamldecode("a: 1\n---\nb: 2\n")
  texts     = startswith("a")
  encoding  = textencodebase64("a", "utf-99")
  many      = one(["a", "b"])
  networks  = cidrcontains("10.0.0.0/8", "::1")
  netmask   = cidrnetmask("fe80::/64")
  file      = filesha256("none.txt")
  recursion = templatestring("$${templatestring(\"x\", {})}", {})
  variable  = templatestring("$${nmae}", { name = "x" })
  width     = format("%99999s", "x")
}

# Nothing can be done with what is infinite.
output "ratio" {
  value = { each = 1 / length([]) }
}
