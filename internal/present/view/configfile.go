package view

import (
	"fmt"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/lang/configs"
)

// The smallest and the largest width of a setting: beside a wider column, the eye misses
// the origin.
const (
	minSetting = 30
	maxSetting = 76
)

// hidden is the text of configs.Text.Masked in place of secrets.
const hidden = "(sensitive)"

// setting is one row of the explanation of a config file.
type setting struct {
	name   string // "expiration = 7200"
	origin configs.Origin
	weaker bool // the row is about a value that was overridden
}

// ExplainConfig prints the origin of every value in a service's config file: the layer, the
// file and the line, and the values that it overrides. The error is that of writing.
func ExplainConfig(out screen.Stream, service string, file configs.ConfigFile) error {
	lines := []screen.Line{screen.Styled(screen.Bold, file.Name).Then(screen.Textf(" of service %s, at %s", service, file.Path))}
	if file.SecretPath != "" {
		lines = append(lines, screen.Text("Values with secrets are at "+file.SecretPath))
	}
	lines = append(lines, nil)
	if file.Format == "raw" {
		rows := []setting{{name: "the whole content", origin: file.Origin}}
		return out.Print(append(lines, measure(rows, out.Width).lines(rows)...))
	}
	var all []setting
	for _, o := range file.Options {
		all = append(all, settingsOf(o)...)
	}
	table := measure(all, out.Width)
	for i, o := range file.Options {
		if i == 0 || o.Section != file.Options[i-1].Section {
			if i > 0 {
				lines = append(lines, nil)
			}
			if o.Section != "" {
				lines = append(lines, screen.Styled(screen.Bold, "["+o.Section+"]"))
			}
		}
		lines = append(lines, table.lines(settingsOf(o))...)
	}
	return out.Print(lines)
}

// settingsOf returns the rows of one option. Only the first row of a repeated key has the
// origin.
func settingsOf(o configs.Option) []setting {
	var rows []setting
	for i, value := range o.Values {
		row := setting{name: o.Key + " = " + value.Masked()}
		if i == 0 {
			row.origin = o.Origin
		}
		rows = append(rows, row)
	}
	for _, weaker := range o.Overrides {
		value := "an expression"
		switch {
		case weaker.Known && weaker.Text == "":
			value = `""`
		case weaker.Known:
			value = weaker.Text
		case configs.Join(o.Values, "").Secret():
			value = hidden
		}
		rows = append(rows, setting{name: "  instead of " + value, origin: weaker.Origin, weaker: true})
	}
	return rows
}

// settingTable has the widths of the columns of the explanation.
type settingTable struct{ name, layer int }

// measure fits the columns to a screen: values get the room that the origins leave.
func measure(rows []setting, width int) settingTable {
	var t settingTable
	place := 0
	for _, row := range rows {
		t.name = max(t.name, screen.Columns(foreign.Text(row.name)))
		t.layer = max(t.layer, screen.Columns(layerName(row.origin)))
		place = max(place, screen.Columns(foreign.Text(placeOf(row.origin))))
	}
	t.name = min(t.name, maxSetting, max(width-t.layer-place-4, minSetting))
	return t
}

func (t settingTable) lines(rows []setting) []screen.Line {
	var out []screen.Line
	for _, row := range rows {
		l := screen.Text(screen.Truncate(foreign.Text(row.name), t.name, "…"))
		if row.origin.Layer != "" {
			l = l.Pad(t.name + 2).Then(screen.Text(layerName(row.origin))).Pad(t.name + t.layer + 4).Then(screen.Text(placeOf(row.origin)))
		}
		if row.weaker {
			l = screen.Styled(screen.Faint, l.String())
		}
		out = append(out, l)
	}
	return out
}

// layerName returns the name of a layer in the documentation.
func layerName(o configs.Origin) string {
	switch o.Layer {
	case "cloud":
		return "cloud default"
	case "directory":
		return "config directory"
	}
	return o.Layer
}

func placeOf(o configs.Origin) string {
	if o.Layer == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", o.Range.Filename, o.Range.Start.Line)
}
