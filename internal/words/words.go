// Package words puts names and numbers into sentences and into command lines, and finds the
// name that somebody meant.
package words

import (
	"fmt"
	"strings"
)

// All lists all names: "a, b and c"; "none" where there are none.
func All(names []string) string {
	switch n := len(names); n {
	case 0:
		return "none"
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// Few lists the first names, at most so many, and says how many more there are:
// "a, b and 3 more". It is empty where there are no names.
func Few(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
