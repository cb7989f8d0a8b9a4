package files

import (
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/configs"
)

// Part is a config file of a service, or one of the two files that it is split into.
type Part struct {
	Path    string
	Content configs.Text
	Secret  bool // stored in a Secret, not in a ConfigMap
}

// Parts renders the parts of a config file. The public part, if there is one, comes first. If a file
// has secret values and cannot be split, all of it is secret.
func Parts(decl configs.ConfigFile) []Part {
	whole := decl.Content
	var open, hidden []configs.Option
	for _, option := range decl.Options {
		if slices.ContainsFunc(option.Values, configs.Text.Secret) {
			hidden = append(hidden, option)
		} else {
			open = append(open, option)
		}
	}
	isSecret := hidden != nil || decl.Content.Secret()
	switch divided := isSecret && decl.SecretPath != ""; {
	case divided && decl.Format == "raw":
		return []Part{{Path: decl.Path}, {Path: decl.SecretPath, Content: whole, Secret: true}}
	case divided:
		return []Part{{Path: decl.Path, Content: ini(open)}, {Path: decl.SecretPath, Content: ini(hidden), Secret: true}}
	case decl.Format != "raw":
		whole = ini(decl.Options)
	}
	return []Part{{Path: decl.Path, Content: whole, Secret: isSecret}}
}

// ini writes options in the INI format of oslo.config. The caller groups the options by
// section, and puts options without a section first.
func ini(options []configs.Option) configs.Text {
	var out configs.Text
	var plain strings.Builder
	flush := func() {
		out = append(out, configs.Plain(plain.String())...)
		plain.Reset()
	}
	section := ""
	for i, option := range options {
		if option.Section != section {
			if i > 0 {
				plain.WriteString("\n")
			}
			plain.WriteString("[" + option.Section + "]\n")
			section = option.Section
		}
		for _, value := range option.Values {
			plain.WriteString(option.Key + " = ")
			for _, part := range value {
				if part.Public() {
					plain.WriteString(part.Literal)
					continue
				}
				flush()
				out = append(out, part)
			}
			plain.WriteString("\n")
		}
	}
	flush()
	return out
}
