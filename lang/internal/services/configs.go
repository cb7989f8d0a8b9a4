package services

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/check"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/settings"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
)

// makeConfigFiles makes the config files. Absent are the optional ones without content.
func makeConfigFiles(u *use, e *eval.Env, definition *source.Block, values merged) (out []configs.ConfigFile, absent map[string]bool) {
	files := configFiles(u.set, u.over.whole, definition, folders(u.set, definition, u.block, u.name))
	absent = map[string]bool{}
	for _, b := range definition.All("config") {
		merged := values[b.Label]
		f := configs.ConfigFile{
			Name:       b.Label,
			Format:     files.Format(b),
			Path:       eval.String(e, files.Inherited(b, "path"), "path"),
			SecretPath: eval.String(e, files.Inherited(b, "secret_path"), "secret_path"),
			Mode:       mode(e, files.Inherited(b, "mode")),
			Range:      rangeOfFile(files, b),
		}
		if eval.Bool(e, b, "optional") && !hasContent(e, files, b, f.Format, merged) {
			absent[b.Label] = true
			continue
		}
		unused := "content"
		switch f.Format {
		case "raw":
			unused = "values"
			f.Content, f.Origin = content(e, files, b)
			if attr := b.Attributes["from"]; attr != nil {
				e.Report.Error(attr.NameRange, "Argument does not fit the format", "%q is raw: only files with values can be made from others.", b.Label)
			}
		case "yaml", "json":
			f.Content, f.Origin, f.Partial = tree(u, e, b, f.Format, merged)
		default:
			f.Options, f.Partial = merged.Options(e, func(e *eval.Env, o configs.Option, replaced hcl.Traversal) {
				check.ReplacedHost(u.set.Config, u.set.WarnedHosts, e, o, replaced)
			})
			checkOnly(e, files, b, f, values)
			checkPins(e, eval.Strings(e, files.Inherited(b, "pins"), "pins"), f)
		}
		for _, part := range []*source.Block{b.Base, b} {
			if part != nil && part.Attributes[unused] != nil && f.Format != "" {
				e.Report.Error(part.Attributes[unused].NameRange, "Argument does not fit the format",
					"%q is %s: a raw file has content, and other files have values.", b.Label, f.Format)
			}
		}
		if f.Format == "yaml" || f.Format == "json" {
			f.Format = "raw" // as which it is written and shown
		}
		if eval.Bool(e, files.Inherited(b, "sensitive"), "sensitive") {
			f.Hide()
		}
		out = append(out, f)
	}
	return out, absent
}

// content returns the content of a raw file. The service block is stronger than the config
// directory, and that is stronger than the definition.
func content(e *eval.Env, files *settings.Files, b *source.Block) (configs.Text, configs.Origin) {
	content, replaced := files.Replacement(b)
	of := configs.Origin{Layer: configs.LayerDefinition, Range: b.AttributeRange("content")}
	if eval.EnvOf(e, b, "content") == e.OfService && eval.IsSet(e, b, "content") {
		of.Layer = configs.LayerService
	} else if replaced {
		return content, configs.Origin{Layer: configs.LayerDirectory, Range: files.RangeInDirectory(b)}
	}
	text, given := eval.Text(e, b, "content")
	if !given {
		e.Report.Error(b.Header, "Missing argument", "config %q is raw: it needs the argument \"content\", a string such as yamlencode({ ... }) or file(\"...\").", b.Label)
	}
	return text, of
}

// mode returns the file mode of a config file, or 0 if nothing says it.
func mode(e *eval.Env, b *source.Block) int {
	n, _ := strconv.ParseInt(eval.String(e, b, "mode"), 8, 32) // 0 without the argument
	return int(n)
}

// hasContent reports whether an optional config file has content.
func hasContent(e *eval.Env, files *settings.Files, b *source.Block, format string, merged *settings.Merged) bool {
	if format == "raw" {
		return eval.IsSet(e, b, "content") || len(files.Overrides(b)) > 0
	}
	entries, partial := merged.Entries(e)
	return len(entries) > 0 || partial
}

// checkOnly warns of names in the argument only that the other file does not have.
func checkOnly(e *eval.Env, files *settings.Files, config *source.Block, f configs.ConfigFile, values merged) {
	for _, name := range files.Only(config) {
		there := slices.ContainsFunc(f.Options, func(o configs.Option) bool { return o.Section == name || o.Section == "" && o.Key == name })
		if there || f.Partial {
			continue
		}
		var known []string
		for _, base := range files.Lineage(config)[1:] {
			for _, x := range values[base.Label].Leaves {
				known = append(known, x.Path[:min(1, len(x.Path))]...)
			}
		}
		e.Report.Warn(config.AttributeRange("only"), "Nothing to take", "%s", words.WithHint(words.DidYouMean(name, known),
			fmt.Sprintf("The file that %q is made from has no %q. It has: %s.", config.Label, name, words.Sorted(known))))
	}
}

// checkPins warns of values that let a service work beside an older release. pins maps SECTION.KEY to the value
// without that effect.
func checkPins(e *eval.Env, pins map[string]string, f configs.ConfigFile) {
	for _, o := range f.Options {
		name := o.Section + "." + o.Key
		free, pinned := pins[name]
		if !pinned || o.Origin.Layer == configs.LayerDefinition || len(o.Values) == 1 && strings.EqualFold(o.Values[0].Masked(), free) {
			continue
		}
		e.Report.Warn(o.Origin.KeyRange(), "Option for an upgrade only",
			"[%s] %s lets the service work beside pods of an older release. When `kolla status` names none of them, take it away.", o.Section, o.Key)
	}
}

// tree returns the content of a file in YAML or JSON. Partial: some keys are not known.
func tree(u *use, e *eval.Env, config *source.Block, format string, merged *settings.Merged) (content configs.Text, origin configs.Origin, partial bool) {
	origin = configs.Origin{Layer: configs.LayerDefinition, Range: config.Header}
	object, partial := merged.Object(e)
	value, err := e.Functions[format+"encode"].Call([]cty.Value{object})
	if err != nil {
		e.Report.Error(config.Header, "Unsuitable config values", "%s.", words.Sentence(err))
		return nil, origin, partial
	}
	if !value.IsWhollyKnown() && len(values.Deferrals(value)) == 0 {
		return nil, origin, partial // it was reported
	}
	return eval.TextOf(e, value, diag.FirstRange(blocks.RangeOf(config), u.block.Header)), origin, partial
}

// rangeOfFile returns the strongest place where the user configures a file.
func rangeOfFile(files *settings.Files, config *source.Block) hcl.Range {
	if config.Top != nil || len(files.Overrides(config)) == 0 {
		return blocks.RangeOf(config)
	}
	return files.RangeInDirectory(config)
}
