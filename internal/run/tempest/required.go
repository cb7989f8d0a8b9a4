package tempest

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

//go:embed required.txt
var required string

// Required returns the names of the tests that the interop guideline requires, by their ids. A test keeps
// its id when it is renamed, and tests of classes that inherit from its class have the same id.
func Required() map[string]string {
	names := map[string]string{}
	for line := range strings.Lines(required) {
		if id, name, found := strings.Cut(strings.TrimSpace(line), " "); found && id != "#" {
			names[id] = name
		}
	}
	return names
}

// Known reads the list of the catalogue: tests that are known to fail, or that are required and known to be skipped,
// and the reason for each. An error names the line without a reason, or with a test that stands there twice.
func Known(text string) (map[string]string, error) {
	reasons := map[string]string{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, _ := strings.Cut(line, " # ")
		name, reason = strings.TrimSpace(name), strings.TrimSpace(reason)
		if reason == "" {
			return nil, fmt.Errorf("known.txt:%d: %s has no reason; write: TEST # REASON", number, name)
		}
		if reasons[name] != "" {
			return nil, fmt.Errorf("known.txt:%d: %s stands there twice", number, name)
		}
		reasons[name] = reason
	}
	return reasons, nil
}

// attributes matches what Tempest adds to the name of a test: its id and its kinds. The results lack them.
var attributes = regexp.MustCompile(`^([^\[]*)\[[^\]]*\]`)

// identified matches the id of a test in its full name.
var identified = regexp.MustCompile(`\[id-([0-9a-f-]{36})[,\]]`)

// idOf returns the id of a test, or an empty string.
func idOf(full string) string {
	if m := identified.FindStringSubmatch(full); m != nil {
		return m[1]
	}
	return ""
}

// nameOf returns the name of a test without its attributes.
func nameOf(full string) string { return attributes.ReplaceAllString(full, "$1") }
