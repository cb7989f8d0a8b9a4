package jsonview

import (
	"io"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/lang/configs"
)

// ConfigFile is a config file of a service, and its content.
type ConfigFile struct {
	File    configs.ConfigFile
	Mounted []Mounted
}

// Mounted is a file in a container. It has no secrets: "(sensitive)" replaces them.
type Mounted struct {
	Path    string `json:"path"`
	Secret  bool   `json:"secret"` // the file is in a Secret
	Content string `json:"content"`
}

type (
	filesJSON struct {
		FormatVersion string     `json:"format_version"`
		Service       string     `json:"service"`
		Files         []fileJSON `json:"files"`
	}
	fileJSON struct {
		Name    string       `json:"name"`
		Format  string       `json:"format"`
		Mounted []Mounted    `json:"mounted"`
		Origin  *originJSON  `json:"origin,omitempty"` // of a raw file
		Values  []optionJSON `json:"values,omitempty"`
	}
	optionJSON struct {
		Section   string         `json:"section,omitempty"`
		Key       string         `json:"key"`
		Values    []string       `json:"values"` // several: the key is repeated
		Sensitive bool           `json:"sensitive"`
		Origin    originJSON     `json:"origin"`
		Overrides []overrideJSON `json:"overrides,omitempty"` // strongest first
	}
	originJSON struct {
		Layer    string `json:"layer"`
		Filename string `json:"filename"`
		Line     int    `json:"line"`
	}
	overrideJSON struct {
		originJSON
		Value *string `json:"value,omitempty"` // where it is a literal that may be shown
	}
)

// ConfigFiles writes config files of a service, with the origin of each value.
func ConfigFiles(w io.Writer, service string, files []ConfigFile) error {
	out := filesJSON{FormatVersion: "1.0", Service: service, Files: []fileJSON{}}
	for _, f := range files {
		file := f.File
		shown := fileJSON{Name: file.Name, Format: file.Format, Mounted: f.Mounted}
		if file.Format == "raw" {
			origin := originOf(file.Origin)
			shown.Origin = &origin
		}
		for _, option := range file.Options {
			shown.Values = append(shown.Values, optionOf(option))
		}
		out.Files = append(out.Files, shown)
	}
	return foreign.JSON(w, out, "  ")
}

func optionOf(option configs.Option) optionJSON {
	out := optionJSON{Section: option.Section, Key: option.Key, Sensitive: configs.Join(option.Values, "").Secret(), Origin: originOf(option.Origin)}
	for _, value := range option.Values {
		out.Values = append(out.Values, value.Masked())
	}
	for _, weaker := range option.Overrides {
		override := overrideJSON{originJSON: originOf(weaker.Origin)}
		if weaker.Known {
			override.Value = &weaker.Text
		}
		out.Overrides = append(out.Overrides, override)
	}
	return out
}

func originOf(o configs.Origin) originJSON {
	return originJSON{Layer: o.Layer, Filename: o.Range.Filename, Line: o.Range.Start.Line}
}
