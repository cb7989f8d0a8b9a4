package configs

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/internal/diag"
)

// ConfigFile is one file of a service.
type ConfigFile struct {
	Name   string // block label, "keystone.conf"; also the key in its ConfigMap
	Format string // "ini", "properties" or "raw", which files in YAML and JSON are too
	Path   string // where the service reads it
	// SecretPath is where the part with secret values goes, when the service
	// merges a second file by itself (oslo.config directories); empty: a file
	// with any secret in it becomes a Secret as a whole.
	SecretPath string
	Options    []Option // formats "ini" and "properties": sorted by section (DEFAULT first) and key
	// Partial: there are, or may be, more options, which cannot be evaluated or are known
	// only after the apply.
	Partial bool
	Mode    int    // permissions; 0: what is usual
	Content Text   // format "raw"
	Origin  Origin // of Content
	Range   hcl.Range
}

// hide makes all values of the file secret, and those that they took the place of.
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

// Option is one value of an INI or properties file. A list of several values is a
// repeated key.
type Option struct {
	Section string // empty in a properties file
	Key     string
	Values  []Text
	Origin  Origin
	// Overrides are the values that this one took the place of, strongest first.
	Overrides []Override
}

// Layers of config values, the weakest first.
const (
	LayerDefinition = "definition"
	LayerCloud      = "cloud"
	LayerDirectory  = "directory"
	LayerService    = "service"
)

// Origin says which layer gave a value, and where: in a *.hcl file, or for the layer
// "directory" in a file of the config directory.
type Origin struct {
	Layer string // "definition", "cloud", "directory", "service"
	Range hcl.Range
	// Key and Section are where their names are written; of a value in a map that is
	// computed they are empty.
	Key, Section hcl.Range
}

// KeyRange is where the key is written; where it is not, the value is.
func (o Origin) KeyRange() hcl.Range { return diag.FirstRange(o.Key, o.Range) }

// SectionRange is where the section is written; where it is not, the key or the value is.
func (o Origin) SectionRange() hcl.Range { return diag.FirstRange(o.Section, o.Key, o.Range) }

// Override is a value that a stronger layer took the place of.
type Override struct {
	Origin
	// Text is the value as it would stand in the file, if Known. It is not where the
	// value is more than a literal, since what is overridden is not evaluated, and
	// where it must not be shown.
	Text  string
	Known bool
}
