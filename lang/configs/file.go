package configs

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/internal/diag"
)

// ConfigFile is a config file of a service.
type ConfigFile struct {
	Name   string // block label, "keystone.conf"; also the key in its ConfigMap
	Format string // "ini", "properties" or "raw"; files in YAML and JSON are raw
	Path   string // in the container
	// SecretPath is the file for options with secret values, for services that merge a second
	// file (oslo.config directories). Empty: a file with a secret becomes a Secret as a whole.
	SecretPath string
	Options    []Option // formats "ini" and "properties": sorted by section (DEFAULT first) and key
	// Partial: more options may exist, which cannot be evaluated or are known only after the
	// apply.
	Partial bool
	Mode    int    // permissions; 0: the default
	Content Text   // format "raw"
	Origin  Origin // of Content
	Range   hcl.Range
}

// Hide makes all values of the file secret, and the overridden values too.
func (f *ConfigFile) Hide() {
	f.Content = f.Content.hidden()
	f.Options = slices.Clone(f.Options)
	for i := range f.Options {
		o := &f.Options[i]
		o.Values = slices.Clone(o.Values)
		for j, text := range o.Values {
			o.Values[j] = text.hidden()
		}
		o.Overrides = slices.Clone(o.Overrides)
		for j := range o.Overrides {
			o.Overrides[j].Text, o.Overrides[j].Known = "", false
		}
	}
}

// Option is a key of an INI or properties file. A key with several values is repeated.
type Option struct {
	Section string // empty in a properties file
	Key     string
	Values  []Text
	Origin  Origin
	// Overrides are the values of weaker layers, the strongest first.
	Overrides []Override
}

// Layers of config values, the weakest first.
const (
	LayerDefinition = "definition"
	LayerCloud      = "cloud"
	LayerDirectory  = "directory"
	LayerService    = "service"
)

// Origin is the layer and the place of a value: in a *.hcl file, or in a file of the config
// directory.
type Origin struct {
	Layer string // LayerDefinition and so on
	Range hcl.Range
	// Key and Section are the places of their names. They are empty for a value in a computed
	// map.
	Key, Section hcl.Range
}

// KeyRange returns the place of the key, or of the value if the key is computed.
func (o Origin) KeyRange() hcl.Range { return diag.FirstRange(o.Key, o.Range) }

// SectionRange returns the place of the section, or else of the key or the value.
func (o Origin) SectionRange() hcl.Range { return diag.FirstRange(o.Section, o.Key, o.Range) }

// Override is a value that a stronger layer replaced.
type Override struct {
	Origin
	// Text is the value as the file would have it, if Known. Values that are secret or no
	// literals are not known, because overridden values are not evaluated.
	Text  string
	Known bool
}
