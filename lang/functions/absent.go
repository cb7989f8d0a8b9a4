package functions

import (
	"strings"

	"kolla.openstack.org/kolla/internal/words"
)

// absentFunctions maps each of Terraform's functions that the language does not have to advice
// about a replacement. Most of them return a new result each time, so that every plan would
// contain changes.
var absentFunctions = map[string]string{
	"bcrypt":          "Its result differs each time, and there would always be something to change. Give the hash as a variable.",
	"ephemeralasnull": "There are no ephemeral values. A value of sensitive(...) is never shown and never stored.",
	"list":            "Write a list as [a, b], or tolist([a, b]).",
	"map":             "Write a map as { a = b }, or tomap({ a = b }).",
	"plantimestamp":   "Its result differs each time, and there would always be something to change. Give the time as a variable: -var 'NAME=2026-01-01T00:00:00Z'.",
	"rsadecrypt":      "The private key would have to lie beside the configuration. Give the decrypted value as a variable with sensitive = true.",
	"timestamp":       "Its result differs each time, and there would always be something to change. Give the time as a variable: -var 'NAME=2026-01-01T00:00:00Z'.",
	"type":            "It is for looking at values, not for configurations. can(tolist(...)), can(tomap(...)) and the like tell what a value can be used as.",
	"uuid":            "Its result differs each time, and there would always be something to change. uuidv5(\"dns\", NAME) always gives the same for a name.",
}

// Instead returns advice for a function that does not exist.
func Instead(name string, known []string) string {
	if instead, ok := absentFunctions[name]; ok {
		return instead
	}
	return strings.TrimSpace(words.DidYouMean(name, known) + " The functions are Terraform's, as far as they make sense here.")
}
