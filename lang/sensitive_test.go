package lang_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
)

// Each sensitive value is told, so that a caller recognizes it in text of others.
func TestSensitiveValuesAreTold(t *testing.T) {
	var told []string
	_, diags := load(t, lang.Options{
		Vars:      []lang.Var{{Assignment: "given=hunter2"}},
		Sensitive: func(text string) { told = append(told, text) },
	}, `
cloud "c" {
  release = "2025.1"
}

variable "given" {
  type      = string
  sensitive = true
}

variable "nested" {
  type      = any
  default   = { a = ["one", { b = "two" }], port = 5000, on = true }
  sensitive = true
}

variable "open" {
  type    = string
  default = "not-secret"
}

locals {
  made  = "user:${var.given}"
  coded = sensitive("three")
  mixed = [var.open, var.given]
}

manifest "m" {
  object = {
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = { name = "m" }
    stringData = { a = local.made, b = local.coded, c = local.mixed[1] }
  }
}
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	slices.Sort(told)
	if diff := cmp.Diff([]string{"5000", "hunter2", "one", "three", "two", "user:hunter2"}, slices.Compact(told)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
