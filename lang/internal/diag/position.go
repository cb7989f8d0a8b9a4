package diag

import (
	"cmp"

	"github.com/hashicorp/hcl/v2"
)

// Compare orders places by file name and position.
func Compare(a, b hcl.Range) int {
	return cmp.Or(cmp.Compare(a.Filename, b.Filename), cmp.Compare(a.Start.Byte, b.Start.Byte))
}

// FirstRange returns the first of the places that has a file name.
func FirstRange(places ...hcl.Range) hcl.Range {
	for _, at := range places {
		if at.Filename != "" {
			return at
		}
	}
	return hcl.Range{}
}
