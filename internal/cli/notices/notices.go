// Package notices contains the text that the licences of kolla's modules require kolla to
// distribute: the licences, the authors' notices, and the address of the source. A test
// generates the text from the module graph, and fails if the stored text is out of date.
package notices

import _ "embed"

// Text is the text for readers: a list of the modules, then their licences and notices.
//
//go:embed notices.txt
var Text string
