package files

import (
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/configs"
)

// split renders the public and the secret part of a file. secret is nil if the file has no
// secret values. If a file has secret values and cannot be split, all of it is secret.
func split(decl configs.ConfigFile) (public, secret configs.Text) {
	if decl.Format == "raw" {
		if decl.Content.Secret() {
			return nil, decl.Content
		}
		return decl.Content, nil
	}
	confidential := func(o configs.Option) bool { return slices.ContainsFunc(o.Values, configs.Text.Secret) }
	switch {
	case !slices.ContainsFunc(decl.Options, confidential):
		return ini(decl.Options), nil
	case decl.SecretPath == "":
		return nil, ini(decl.Options)
	}
	var open, hidden []configs.Option
	for _, option := range decl.Options {
		if confidential(option) {
			hidden = append(hidden, option)
		} else {
			open = append(open, option)
		}
	}
	return ini(open), ini(hidden)
}

// Part is a config file of a service, or one of the two files that it is split into.
type Part struct {
	Path    string
	Content configs.Text
	Secret  bool // stored in a Secret, not in a ConfigMap
}

// Parts renders the parts of a config file. The public part, if there is one, comes first.
func Parts(decl configs.ConfigFile) []Part {
	public, secret := split(decl)
	switch {
	case secret == nil:
		return []Part{{Path: decl.Path, Content: public}}
	case decl.SecretPath == "":
		return []Part{{Path: decl.Path, Content: secret, Secret: true}}
	}
	return []Part{{Path: decl.Path, Content: public}, {Path: decl.SecretPath, Content: secret, Secret: true}}
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
