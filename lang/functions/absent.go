package functions

import (
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
)

// absentFunctions maps each of Terraform's functions that the language does not have to advice
// about a replacement. Most of them return a new result each time, so that every plan would
// contain changes.
var absentFunctions = map[string]string{
	"bcrypt":          "It returns a different result each time, so every plan would contain a change. Pass the hash in a variable.",
	"ephemeralasnull": "kolla has no ephemeral values. Use sensitive(...): its value is never shown and never stored.",
	"list":            "Write a list as [a, b], or tolist([a, b]).",
	"map":             "Write a map as { a = b }, or tomap({ a = b }).",
	"plantimestamp":   "It returns a different result each time, so every plan would contain a change. Pass the time in a variable: -var 'NAME=2026-01-01T00:00:00Z'.",
	"rsadecrypt":      "It needs the private key next to the configuration. Pass the decrypted value in a variable with sensitive = true.",
	"timestamp":       "It returns a different result each time, so every plan would contain a change. Pass the time in a variable: -var 'NAME=2026-01-01T00:00:00Z'.",
	"type":            "It exists only in kolla console, as a whole line: type(VALUE). To test a type in an expression, use can(tolist(...)), can(tomap(...)) and similar calls.",
	"uuid":            "It returns a different result each time, so every plan would contain a change. Use uuidv5(\"dns\", NAME), which returns the same UUID for the same name.",
}

// Instead returns advice for a function that does not exist.
func Instead(name string, known []string) string {
	if instead, ok := absentFunctions[name]; ok {
		return instead
	}
	return strings.TrimSpace(words.DidYouMean(name, known) + " docs/functions.md lists the functions.")
}
