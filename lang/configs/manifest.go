package configs

import "github.com/hashicorp/hcl/v2"

// Manifest is Kubernetes objects brought as they are.
type Manifest struct {
	Block     string // address
	Name      string
	Reason    string // what its pods have powers for; empty: it is not said
	Objects   []ManifestObject
	Needs     []string
	Reasons   []Reason // one for each of Needs
	Lifecycle Lifecycle
	Range     hcl.Range
}

// ManifestObject is one object of a manifest.
type ManifestObject struct {
	// Content is as decoded from YAML or HCL; numbers are int64 or float64.
	Content map[string]any
	// Deferred are the data that have to be read before all of it is known: until then
	// KnownAfterApply stands in Content for what depends on them.
	Deferred []string
	Range    hcl.Range // of the document in its file, or of the object attribute
}

// KnownAfterApply stands for a value in the content of a manifest that is known only
// after the apply.
const KnownAfterApply = "(known after apply)"
