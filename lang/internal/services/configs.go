package services

import (
	"fmt"
	"slices"
	"strconv"

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

// layers says how the config files of the service are put together.
func layers(in *instance) *settings.Files {
	out := &settings.Files{
		Whole: in.whole, Enabled: in.definition, Defaults: in.set.inDefaults("config"), Directory: in.set.Directory,
		Constant: in.set.Constant, Leaves: in.set.Leaves,
	}
	if in.set.Directory != nil {
		out.Names = folders(in)
	}
	return out
}

// folders returns the folders of the service in the config directory. The name in the cluster is
// among them after its evaluation.
func folders(in *instance) []string {
	names := []string{in.definition.Label, in.block.Label, in.out.Name}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// makeConfigFiles makes the config files.
func makeConfigFiles(in *instance) {
	layers := layers(in)
	for _, b := range in.definition.All("config") {
		f := configs.ConfigFile{
			Name:       b.Label,
			Format:     layers.Format(b),
			Path:       eval.String(in.inner, layers.Inherited(b, "path"), "path"),
			SecretPath: eval.String(in.inner, layers.Inherited(b, "secret_path"), "secret_path"),
			Mode:       mode(in, b),
			Range:      rangeOfFile(in, b),
		}
		if eval.Bool(in.inner, b, "optional") && !hasContent(in, b, f.Format) {
			in.absent[b.Label] = true
			continue
		}
		unused := "content"
		switch f.Format {
		case "raw":
			unused = "values"
			f.Content, f.Origin = content(in, b)
			if attr := b.Attributes["from"]; attr != nil {
				in.report.Error(attr.NameRange, "Argument does not fit the format", "%q is raw: only files with values can be made from others.", b.Label)
			}
		case "yaml", "json":
			f.Content, f.Origin, f.Partial = tree(in, b, f.Format)
		default:
			f.Options, f.Partial = in.merged[b.Label].Options(in.inner, func(e *eval.Env, o configs.Option, replaced hcl.Traversal) {
				check.ReplacedHost(in.set.Config, in.set.WarnedHosts, e, o, replaced)
			})
			checkOnly(in, b, f)
		}
		for _, part := range []*source.Block{b.Base, b} {
			if part != nil && part.Attributes[unused] != nil && f.Format != "" {
				in.report.Error(part.Attributes[unused].NameRange, "Argument does not fit the format",
					"%q is %s: a raw file has content, and other files have values.", b.Label, f.Format)
			}
		}
		if f.Format == "yaml" || f.Format == "json" {
			f.Format = "raw" // as which it is written and shown
		}
		if eval.Bool(in.inner, layers.Inherited(b, "sensitive"), "sensitive") {
			f.Hide()
		}
		in.out.Configs = append(in.out.Configs, f)
	}
}

// content returns the content of a raw file. The service block is stronger than the config
// directory, and that is stronger than the definition.
func content(in *instance, b *source.Block) (configs.Text, configs.Origin) {
	layers := layers(in)
	content, replaced := layers.Replacement(b)
	of := configs.Origin{Layer: configs.LayerDefinition, Range: b.AttributeRange("content")}
	if eval.EnvOf(in.inner, b, "content") == in.user && eval.IsSet(in.inner, b, "content") {
		of.Layer = configs.LayerService
	} else if replaced {
		return content, configs.Origin{Layer: configs.LayerDirectory, Range: layers.RangeInDirectory(b)}
	}
	text, given := eval.Text(in.inner, b, "content")
	if !given {
		in.report.Error(b.Header, "Missing argument", "config %q is raw: it needs the argument \"content\", a text, such as yamlencode({ ... }) or file(\"...\").", b.Label)
	}
	return text, of
}

// mode returns the file mode of a config file, or 0 if nothing says it.
func mode(in *instance, config *source.Block) int {
	n, _ := strconv.ParseInt(eval.String(in.inner, layers(in).Inherited(config, "mode"), "mode"), 8, 32) // 0 without the argument
	return int(n)
}

// hasContent reports whether an optional config file has content.
func hasContent(in *instance, config *source.Block, format string) bool {
	if format == "raw" {
		return eval.IsSet(in.inner, config, "content") || len(layers(in).Overrides(config)) > 0
	}
	entries, partial := in.merged[config.Label].Entries(in.inner)
	return len(entries) > 0 || partial
}

// checkOnly warns of names in the argument only that the other file does not have.
func checkOnly(in *instance, config *source.Block, f configs.ConfigFile) {
	for _, name := range layers(in).Only(config) {
		there := slices.ContainsFunc(f.Options, func(o configs.Option) bool { return o.Section == name || o.Section == "" && o.Key == name })
		if there || f.Partial {
			continue
		}
		var known []string
		for _, base := range layers(in).Lineage(config)[1:] {
			for _, x := range in.merged[base.Label].Leaves {
				known = append(known, x.Path[:min(1, len(x.Path))]...)
			}
		}
		in.report.Warn(config.AttributeRange("only"), "Nothing to take", "%s", words.WithHint(words.DidYouMean(name, known),
			fmt.Sprintf("The file that %q is made from has no %q. It has: %s.", config.Label, name, words.Sorted(known))))
	}
}

// tree returns the content of a file in YAML or JSON.
func tree(in *instance, config *source.Block, format string) (content configs.Text, origin configs.Origin, partial bool) {
	origin = configs.Origin{Layer: configs.LayerDefinition, Range: config.Header}
	object, partial := in.merged[config.Label].Object(in.inner)
	value, err := in.user.Functions[format+"encode"].Call([]cty.Value{object})
	if err != nil {
		in.report.Error(config.Header, "Unsuitable config values", "%s.", words.Sentence(err))
		return nil, origin, partial
	}
	if !value.IsWhollyKnown() && len(values.Deferrals(value)) == 0 {
		return nil, origin, partial // it was reported
	}
	return eval.TextOf(in.inner, value, diag.FirstRange(blocks.RangeOf(config), in.block.Header)), origin, partial
}

// rangeOfFile returns the strongest place where the user configures a file.
func rangeOfFile(in *instance, config *source.Block) hcl.Range {
	layers := layers(in)
	if config.Top != nil || len(layers.Overrides(config)) == 0 {
		return blocks.RangeOf(config)
	}
	return layers.RangeInDirectory(config)
}
