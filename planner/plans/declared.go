package plans

import (
	"slices"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/ini"
)

// Declared is where the configuration says what an action changes: in a config file
// where each of the values stands, else where the object is declared. It is empty for
// what only the built-in catalogue says.
func (a *Action) Declared() string {
	if a.Object == nil {
		return ""
	}
	var places []string
	for _, c := range a.Changes {
		before, _ := c.Before.(string)
		after, ok := c.After.(string)
		if !ok || len(a.Object.Places) == 0 {
			return a.Object.Source
		}
		for _, name := range ini.Changed(before, after) {
			place, ok := a.Object.Places[name]
			if !ok {
				return a.Object.Source
			}
			if !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	if len(places) == 0 {
		return a.Object.Source
	}
	return words.Few(places, 2)
}
