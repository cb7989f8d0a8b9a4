cloud "test" {
  release = "2025.1"
}

manifest "skipped" {
  files = ["skipped.yaml"]
}

manifest "lost" {
  files = ["dots.yaml", "returns.yaml", "json.yaml", "stream.json", "utf16.yaml", "keys.yaml", "empty.yaml"]
}

locals {
  one   = yamldecode("a: 1\n...\nb: 2\n")
  all   = yamldecodeall("a: 1\n---\nb: 2\r---\rc: 3\n")
  twice = yamldecode("a: 1\na: 2\n")
}

output "used" {
  value = [local.one, local.all, local.twice]
}
