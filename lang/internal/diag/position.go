package diag

import "github.com/hashicorp/hcl/v2"

// FirstRange is the first of the places that has a file name.
func FirstRange(places ...hcl.Range) hcl.Range {
	for _, at := range places {
		if at.Filename != "" {
			return at
		}
	}
	return hcl.Range{}
}
