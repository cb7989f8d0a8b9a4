package configs

import "github.com/hashicorp/hcl/v2"

// Manifest is a block with Kubernetes objects as they are.
type Manifest struct {
	Block     string // address
	Name      string
	Reason    string // purpose of the powers of its pods; may be empty
	Objects   []ManifestObject
	Needs     []string
	Reasons   []Reason // one for each of Needs
	Lifecycle Lifecycle
	Range     hcl.Range
}

// ManifestObject is one object of a manifest.
type ManifestObject struct {
	// Content is the decoded object. Numbers are int64 or float64.
	Content map[string]any
	// Deferred are the data blocks that have to be read before Content is known. Until then
	// KnownAfterApply stands for values that depend on them.
	Deferred []string
	Range    hcl.Range // of the document in its file, or of the object attribute
}

// KnownAfterApply stands for a value that is known only after the apply.
const KnownAfterApply = "(known after apply)"
