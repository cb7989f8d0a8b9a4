package charts

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// configMap replaces the content of a ConfigMap. An INI file becomes a map of sections and options in
// the values of the chart. In any other file, only public addresses and names are values.
func (t *template) configMap(o *providers.Object, manifest map[string]any) {
	data, _ := manifest["data"].(map[string]any)
	var hashed []string
	for _, key := range slices.Sorted(maps.Keys(data)) {
		content, ok := data[key].(string)
		if !ok {
			continue
		}
		text, changes := t.content(key, content)
		if !changes {
			continue
		}
		helper := t.helper(o)
		if o.Family.Name == "" {
			helper = fmt.Sprintf("%s.configmap.%s", t.chart.name, o.Address.Name)
		}
		helper += ".content"
		if len(data) > 1 {
			helper += "." + key
		}
		include := fmt.Sprintf("include %q .", helper)
		hashed = append(hashed, include)
		if plain.MatchString(content) {
			t.define(helper, text)
			data[key] = t.line("KEY |", "  {{- "+include+" | nindent DEEPER }}")
		} else {
			t.defineExactly(helper, text)
			data[key] = t.action(include + " | toJson")
		}
	}
	if o.Family.Name == "" {
		return
	}
	if len(hashed) == 0 {
		delete(t.versions, "ConfigMap/"+o.Address.Name) // nothing can change
		return
	}
	t.defineName(o, strings.Join(hashed, ") ("), false)
}

// plain matches texts that a YAML block can contain after Helm has trimmed them: they begin with no
// white space, and end with one line break.
var plain = regexp.MustCompile(`^\S(?:[^\r]*\S)?\n$`)

// content returns the template of the content of a file. changes is false if no value is in it.
func (t *template) content(name, content string) (text string, changes bool) {
	if decl := t.declared(name); decl != nil && decl.Format != "raw" {
		if file, ok := parse(content, decl.Format); ok {
			s, helper := sections, "kolla.ini"
			if decl.Format == "properties" {
				s, helper = options, "kolla.properties"
			}
			at := t.values.leaf(t.defaults(file), s, "config", name)
			return fmt.Sprintf("{{ include %q (list . %s) }}", helper, at), true
		}
	}
	own := &template{built: t.built}
	replaced := own.outside(content)
	return own.expand(escape(replaced)), len(own.actions) > 0
}

// declared returns the declaration of a config file of the service; nil: there is none.
func (t *template) declared(name string) *configs.ConfigFile {
	if t.chart.service == nil {
		return nil
	}
	i := slices.IndexFunc(t.chart.service.Configs, func(f configs.ConfigFile) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &t.chart.service.Configs[i]
}

// defaults returns the values of a file, with expressions for public addresses and names. The charts
// evaluate them as templates.
func (t *template) defaults(file any) any {
	switch file := file.(type) {
	case map[string]any:
		for key := range file {
			file[key] = t.defaults(file[key])
		}
	case []any:
		for i := range file {
			file[i] = t.defaults(file[i])
		}
	case string:
		own := &template{built: t.built}
		return own.expand(escape(own.outside(file)))
	}
	return file
}

// parse returns the options of a file as kolla writes it, by section. A properties file has no
// sections. ok is false if the file cannot be written from the options again.
func parse(content, format string) (file map[string]any, ok bool) {
	file = map[string]any{}
	options := file
	if format == "ini" {
		options = nil
	}
	for line := range strings.Lines(content) {
		line = strings.TrimSuffix(line, "\n")
		switch key, value, found := strings.Cut(line, " = "); {
		case line == "":
		case format == "ini" && line[0] == '[' && line[len(line)-1] == ']':
			options = map[string]any{}
			file[line[1:len(line)-1]] = options
		case !found || options == nil || key != strings.TrimSpace(key):
			return nil, false
		default:
			switch before := options[key].(type) {
			case nil:
				options[key] = value
			case []any:
				options[key] = append(before, value)
			default:
				options[key] = []any{before, value}
			}
		}
	}
	return file, len(file) > 0 && write(file, format) == content
}

// write is kolla.ini and kolla.properties of files.tpl.
func write(file map[string]any, format string) string {
	if format == "properties" {
		return lines(file)
	}
	names := slices.Sorted(maps.Keys(file))
	if i := slices.Index(names, "DEFAULT"); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, "DEFAULT")
	}
	var blocks []string
	for _, name := range names {
		blocks = append(blocks, "["+name+"]\n"+lines(file[name].(map[string]any)))
	}
	return strings.Join(blocks, "\n")
}

func lines(options map[string]any) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(options)) {
		values, repeated := options[key].([]any)
		if !repeated {
			values = []any{options[key]}
		}
		for _, value := range values {
			fmt.Fprintf(&b, "%s = %s\n", key, value)
		}
	}
	return b.String()
}
