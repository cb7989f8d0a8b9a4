package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack"
)

func configCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "config",
		Usage:     "Print a config file of a service, or where its values come from",
		ArgsUsage: "SERVICE [FILE]",
		Description: `
Without FILE it lists the config files of the service. With FILE it prints the file as
the service reads it, and (sensitive) in the place of secrets.

SERVICE is the name that the service has in the cluster, or its address.

With -explain it tells of every value which layer gave it, and where: the definition,
the cloud's defaults, the config directory, the service; and below it what it took the
place of. Needs no cluster. Options may stand behind the names.`,
		Flags: append(variableFlags(),
			&cli.BoolFlag{Name: "explain", Usage: "tell where every value comes from"},
			&cli.BoolFlag{Name: "json", Usage: "print the files, their values and where these come from as JSON"},
			noColorFlag()),
		Action: func(c *cli.Context) error {
			arguments, err := interspersed(c)
			if err != nil {
				return err
			}
			if len(arguments) > 2 {
				return tooMany(c, arguments[2])
			}
			w := newWorkspace(s, c)
			w.loading.Quiet = true
			if err := w.loadConfig(); err != nil {
				return err
			}
			service, files, err := chooseFiles(w.config, arguments)
			if err != nil {
				return err
			}
			switch {
			case c.Bool("json"):
				return configJSON(s, service, files)
			case c.Bool("explain"):
				return w.explain(service, files)
			case len(arguments) < 2:
				return listFiles(s, service)
			}
			return writeFile(s, files[0])
		},
	}
}

// chooseFiles finds the service that is named first, and its config files: the one
// that is named second, or all.
func chooseFiles(config *configs.Config, names []string) (*configs.Service, []configs.ConfigFile, error) {
	var services, addresses []string
	for i := range config.Services {
		service := &config.Services[i]
		services, addresses = append(services, service.Name), append(addresses, service.Block)
		if len(names) == 0 || service.Name != names[0] && service.Block != names[0] {
			continue
		}
		if len(names) == 1 {
			return service, service.Configs, nil
		}
		var files []string
		for i, file := range service.Configs {
			if file.Name == names[1] {
				return service, service.Configs[i : i+1], nil
			}
			files = append(files, file.Name)
		}
		return nil, nil, failure.New(fmt.Sprintf("Service %q has no config file %q", service.Name, names[1]), didYouMean(names[1], files)+"It has: "+orNone(files)+".")
	}
	if len(names) == 0 {
		return nil, nil, failure.New("Which service?", "kolla config SERVICE [FILE]; the configuration has: "+orNone(services)+".")
	}
	return nil, nil, failure.New(fmt.Sprintf("No service %q", names[0]), didYouMean(names[0], slices.Concat(services, addresses))+"The configuration has: "+orNone(services)+".")
}

func orNone(names []string) string { return cmp.Or(strings.Join(names, ", "), "none") }

func listFiles(s streams, service *configs.Service) error {
	if len(service.Configs) == 0 {
		why := "."
		if service.External {
			why = ": it is external, and nothing of it is deployed."
		}
		foreign.Fprintf(s.out, "Service %q has no config files%s\n", service.Name, why)
		return nil
	}
	table := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "FILE\tFORMAT\tVALUES\tPATH")
	for _, file := range service.Configs {
		values := "-"
		if file.Format != "raw" {
			values = fmt.Sprint(len(file.Options))
		}
		foreign.Fprintf(table, "%s\t%s\t%s\t%s\n", file.Name, file.Format, values, file.Path)
	}
	return table.Flush()
}

// writeFile prints a config file as it is mounted. Where it is mounted in two parts,
// a comment before each says where.
func writeFile(s streams, file configs.ConfigFile) error {
	parts := openstack.FileParts(file)
	for i, part := range parts {
		if len(parts) > 1 {
			if i > 0 {
				fmt.Fprintln(s.out)
			}
			foreign.Fprintf(s.out, "# %s\n\n", part.Path)
		}
		if _, err := fmt.Fprint(s.out, part.Content.Masked()); err != nil {
			return fmt.Errorf("print %s: %w", file.Name, err)
		}
	}
	return nil
}

func (w *workspace) explain(service *configs.Service, files []configs.ConfigFile) error {
	for i, file := range files {
		if i > 0 {
			fmt.Fprintln(w.out)
		}
		if err := w.printer.ExplainConfig(service.Name, file); err != nil {
			return err
		}
	}
	return nil
}

// Config files as JSON. No secret is in it: "(sensitive)" takes its place.
type (
	jsonFiles struct {
		FormatVersion string     `json:"format_version"`
		Service       string     `json:"service"`
		Files         []jsonFile `json:"files"`
	}
	jsonFile struct {
		Name    string       `json:"name"`
		Format  string       `json:"format"`
		Mounted []jsonPart   `json:"mounted"`
		Origin  *jsonOrigin  `json:"origin,omitempty"` // of a raw file
		Values  []jsonOption `json:"values,omitempty"`
	}
	jsonPart struct {
		Path    string `json:"path"`
		Secret  bool   `json:"secret"`
		Content string `json:"content"`
	}
	jsonOption struct {
		Section   string         `json:"section,omitempty"`
		Key       string         `json:"key"`
		Values    []string       `json:"values"` // several: the key is repeated
		Sensitive bool           `json:"sensitive"`
		Origin    jsonOrigin     `json:"origin"`
		Overrides []jsonOverride `json:"overrides,omitempty"` // strongest first
	}
	jsonOrigin struct {
		Layer    string `json:"layer"`
		Filename string `json:"filename"`
		Line     int    `json:"line"`
	}
	jsonOverride struct {
		jsonOrigin
		Value *string `json:"value,omitempty"` // where it is a literal that may be shown
	}
)

func configJSON(s streams, service *configs.Service, files []configs.ConfigFile) error {
	out := jsonFiles{FormatVersion: "1.0", Service: service.Name, Files: []jsonFile{}}
	for _, file := range files {
		shown := jsonFile{Name: file.Name, Format: file.Format}
		for _, part := range openstack.FileParts(file) {
			shown.Mounted = append(shown.Mounted, jsonPart{part.Path, part.Secret, part.Content.Masked()})
		}
		if file.Format == "raw" {
			origin := jsonOriginOf(file.Origin)
			shown.Origin = &origin
		}
		for _, option := range file.Options {
			shown.Values = append(shown.Values, jsonOptionOf(option))
		}
		out.Files = append(out.Files, shown)
	}
	return s.writeJSON(out)
}

func jsonOptionOf(option configs.Option) jsonOption {
	out := jsonOption{Section: option.Section, Key: option.Key, Sensitive: configs.Join(option.Values, "").Secret(), Origin: jsonOriginOf(option.Origin)}
	for _, value := range option.Values {
		out.Values = append(out.Values, value.Masked())
	}
	for _, weaker := range option.Overrides {
		override := jsonOverride{jsonOrigin: jsonOriginOf(weaker.Origin)}
		if weaker.Known {
			override.Value = &weaker.Text
		}
		out.Overrides = append(out.Overrides, override)
	}
	return out
}

func jsonOriginOf(o configs.Origin) jsonOrigin {
	return jsonOrigin{Layer: o.Layer, Filename: o.Range.Filename, Line: o.Range.Start.Line}
}
