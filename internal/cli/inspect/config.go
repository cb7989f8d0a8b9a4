package inspect

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/jsonview"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/internal/present/view/tables"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack"
)

// Config is `kolla config`.
func Config(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "config",
		Usage:     "Print a config file of a service, or the sources of its values",
		ArgsUsage: "SERVICE [FILE]",
		Description: `
Without FILE it lists the config files of the service. With FILE it prints the file as
the service reads it, with (sensitive) instead of secrets.

SERVICE is the name of the service in the cluster, or its address.

With -explain it prints for each value the layer that set it, with file and line: the
definition, the cloud's defaults, the config directory or the service. Below it are the
values that it replaced. Needs no cluster. Options may follow the names.`,
		Flags: append(command.VariableFlags(),
			&cli.BoolFlag{Name: "explain", Usage: "show where each value comes from"},
			&cli.BoolFlag{Name: "json", Usage: "print the files, their values and the sources of the values as JSON"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			arguments, err := command.Interspersed(c)
			if err != nil {
				return err
			}
			if len(arguments) > 2 {
				return command.TooMany(c, arguments[2])
			}
			w := command.NewWorkspace(s, c)
			w.Loading.Quiet = true
			if err := w.LoadConfig(); err != nil {
				return err
			}
			service, files, err := chooseFiles(w.Config, arguments)
			if err != nil {
				return err
			}
			switch {
			case c.Bool("json"):
				return jsonview.ConfigFiles(s.Out, service.Name, mounted(files))
			case c.Bool("explain"):
				return explain(w.Printer.Out, service.Name, files)
			case len(arguments) < 2:
				return tables.ConfigFiles(s.Out, service)
			}
			return writeFile(s.Out, files[0])
		},
	}
}

// chooseFiles finds the service with the first name, and its config file with the second
// name. Without a second name it returns all config files.
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
		return nil, nil, failure.New(fmt.Sprintf("Service %q has no config file %q", service.Name, names[1]), command.DidYouMean(names[1], files)+"It has: "+orNone(files)+".")
	}
	if len(names) == 0 {
		return nil, nil, failure.New("Which service?", "kolla config SERVICE [FILE]; the configuration has: "+orNone(services)+".")
	}
	return nil, nil, failure.New(fmt.Sprintf("No service %q", names[0]), command.DidYouMean(names[0], slices.Concat(services, addresses))+"The configuration has: "+orNone(services)+".")
}

func orNone(names []string) string { return cmp.Or(strings.Join(names, ", "), "none") }

// writeFile prints a config file as containers see it. If it is mounted in two parts, a
// comment before each part has its path.
func writeFile(out io.Writer, file configs.ConfigFile) error {
	parts := openstack.FileParts(file)
	for i, part := range parts {
		if len(parts) > 1 {
			if i > 0 {
				fmt.Fprintln(out)
			}
			foreign.Fprintf(out, "# %s\n\n", part.Path)
		}
		if _, err := fmt.Fprint(out, part.Content.Masked()); err != nil {
			return fmt.Errorf("print %s: %w", file.Name, err)
		}
	}
	return nil
}

// explain prints the origins of the values in config files.
func explain(out screen.Stream, service string, files []configs.ConfigFile) error {
	for i, file := range files {
		if i > 0 {
			fmt.Fprintln(out.Writer)
		}
		if err := view.ExplainConfig(out, service, file); err != nil {
			return err
		}
	}
	return nil
}

// mounted adds their content, without secrets, to config files.
func mounted(files []configs.ConfigFile) []jsonview.ConfigFile {
	var out []jsonview.ConfigFile
	for _, file := range files {
		shown := jsonview.ConfigFile{File: file}
		for _, part := range openstack.FileParts(file) {
			shown.Mounted = append(shown.Mounted, jsonview.Mounted{Path: part.Path, Secret: part.Secret, Content: part.Content.Masked()})
		}
		out = append(out, shown)
	}
	return out
}
