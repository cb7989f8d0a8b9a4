cloud "test" {
  release = "2025.1"
}

secret "a" {}

secret "ca" {
  kind = "x509-ca"
}

locals {
  xs     = ["x", "y"]
  tokens = [secret.a.value]

  filtered   = [for x in local.xs : x if secret.a.value == x]
  itself     = [for x in local.xs : x if secret.a.value]
  elements   = [for t in local.tokens : "known" if t != ""]
  nested     = [for x in local.xs : [for t in local.tokens : t == x ? "same" : "other"]]
  inside     = { for x in local.xs : x => secret.a.value == x ? 1 : 2 }
  keyed      = { for x in local.xs : (secret.a.value == x ? "p" : "q") => x }
  named      = { for t in local.tokens : t => "x"... }
  grouped    = { for x in local.xs : tostring(secret.a.value == "x") => x... }
  text       = "%{if secret.a.value == "x"}yes%{endif}"
  loop       = "%{for t in local.tokens}%{if t == "x"}yes%{endif}%{endfor}"
  rendered   = templatestring("%%{for t in ts}%%{if t == \"x\"}yes%%{endif}%%{endfor}", { ts = local.tokens })
  parts      = [local.tokens == ["x"], !secret.a.value, -secret.a.value, secret.a.value > 3, secret.ca == {}]
  logic      = length(local.xs) == 2 && secret.a.value
  index      = { x = 1 }[secret.a.value]
  attempt    = try(secret.a.value == "x" ? "a" : "b", "none")
  possible   = can([for t in local.tokens : t if t == "x"])
  counted    = length([for x in local.xs : x if x == secret.a.value])
  contained  = contains(local.tokens, "x")
  whole      = [for t in local.tokens : t if (t)]
  splat      = local.tokens[*] == ["x"]
  undisputed = [for t in local.tokens : "${t}!" if length(local.xs) == 2]
}

manifest "each" {
  for_each = toset(local.tokens)
  object   = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "each" } }
}

manifest "each-of" {
  for_each = toset([for x in local.xs : x if x == secret.a.value])
  object   = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "each-of" } }
}

manifest "counted" {
  count  = secret.a.value == "x" ? 1 : 0
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "counted" } }
}

manifest "count" {
  count  = secret.a.value
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "count" } }
}

manifest "enabled" {
  enabled = secret.a.value != ""
  object  = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "enabled" } }

  lifecycle {
    precondition {
      condition     = secret.a.value != "x"
      error_message = "Too short."
    }
  }
}

service "memcached" {
  dynamic "workload" {
    for_each = [for x in local.xs : x if x == secret.a.value]
    labels   = [workload.value]
    content {}
  }

  dynamic "workload" {
    for_each = local.tokens
    labels   = ["server"]
    content {}
  }

  dynamic "workload" {
    for_each = ["server"]
    labels   = [workload.value]
    content {
      env = {
        A = [for t in local.tokens : workload.value == t ? "a" : "b"][0]
      }
    }
  }
}

check "known" {
  assert {
    condition     = alltrue([for t in local.tokens : t != ""])
    error_message = "Empty."
  }
}
