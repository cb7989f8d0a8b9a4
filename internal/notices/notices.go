// Package notices holds what the licences of the modules in kolla ask to pass on with it:
// their texts, the notices of their authors, and where the source is. A test makes the
// text anew from the module graph, and fails where it is stale.
package notices

import _ "embed"

// Text is for people: a list of the modules, then the texts.
//
//go:embed notices.txt
var Text string
