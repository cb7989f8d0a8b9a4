package inspect

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/charts"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// Export is `kolla export`.
func Export(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:        "export",
		Usage:       "Write the objects of the cloud for other tools",
		Subcommands: []*cli.Command{exportHelm(s)},
	}
}

func exportHelm(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "helm",
		Usage:     "Write a Helm chart for each service, and one of the whole cloud",
		ArgsUsage: "[SERVICE...]",
		Description: `
The chart of the cloud has the name of the cloud block, and contains the charts of the services in
its directory charts:

  kolla export helm -out=charts
  helm install prod charts/prod --namespace openstack --wait --wait-for-jobs --timeout 60m

With names of services, only their charts are written. The objects are those of kolla render. Settings
that people change are values of the charts: images, replicas, resources, nodes, volumes, public
addresses, and options of config files. The charts contain no secret values. It needs no cluster.

A chart that kolla wrote before is replaced. Other files are never changed.`,
		Flags: append(command.VariableFlags(),
			&cli.StringFlag{Name: "out", Value: "charts", Usage: "write the chart of the cloud into the directory `DIR`"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			w := command.NewWorkspace(s, c)
			objects, err := w.Render()
			if err != nil {
				return err
			}
			if err := checkExport(w.Config, objects, c.Args().Slice()); err != nil {
				return err
			}
			made := charts.Export(charts.Input{Config: w.Config, Objects: objects, Services: c.Args().Slice(), Version: s.Version})
			dir := filepath.Join(c.String("out"), w.Config.Cloud.Name)
			if err := writeCharts(c.String("out"), dir, made); err != nil {
				return err
			}
			foreign.Fprintf(s.Out, "Wrote %s. Its README.md says how to install it.\n", dir)
			return nil
		},
	}
}

// checkExport refuses services without a chart, and objects that are not known without a cluster.
func checkExport(config *configs.Config, objects []providers.Object, services []string) error {
	var names []string
	for _, s := range config.Services {
		if !s.External {
			names = append(names, s.Name)
		}
	}
	for _, name := range services {
		if strings.HasPrefix(name, "-") {
			return failure.New("Options come first", fmt.Sprintf("Put %s before the names of services.", name))
		}
		i := slices.IndexFunc(config.Services, func(s configs.Service) bool { return s.Name == name })
		switch {
		case i < 0:
			return failure.New("No such service", fmt.Sprintf("There is no service %q.%s", name, cmp.Or(words.DidYouMean(name, names), words.Known("service", names))))
		case config.Services[i].External:
			return failure.New("The service is external", fmt.Sprintf(
				"Service %q exists outside of the cloud (%s), so kolla makes no objects for it, and there is nothing to put into a chart. Export the services that use it.",
				name, fmt.Sprintf("%s:%d", config.Services[i].Range.Filename, config.Services[i].Range.Start.Line)))
		}
	}
	var lines []string
	for _, o := range objects {
		if len(o.Deferred) > 0 {
			lines = append(lines, fmt.Sprintf("  %s: %s", o.Address, strings.Join(o.Deferred, ", ")))
		}
	}
	if len(lines) > 0 {
		return failure.New("Some values are not known yet", "These objects depend on data from the cluster, and a chart cannot read it. Give the values as variables:\n\n"+strings.Join(lines, "\n"))
	}
	return nil
}

// listName is the file that lists the files of a chart that kolla wrote, with their checksums.
const listName = ".kolla"

// writeCharts replaces the chart in a directory. It refuses a directory with files that kolla did not
// write, or that somebody changed.
func writeCharts(out, dir string, made []charts.File) error {
	former, err := formerFiles(dir)
	if err != nil {
		return err
	}
	for _, name := range former {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("remove the former chart: %w", err)
		}
	}
	var list strings.Builder
	for _, f := range made {
		name := strings.TrimPrefix(f.Path, filepath.Base(dir)+"/")
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256([]byte(f.Content)), name)
	}
	// The list comes first, so that files are known as kolla's if the command is interrupted.
	made = append([]charts.File{{Path: filepath.Base(dir) + "/" + listName, Content: list.String()}}, made...)
	for _, f := range made {
		if err := files.WriteNew(filepath.Join(out, filepath.FromSlash(f.Path)), []byte(f.Content)); err != nil {
			return fmt.Errorf("write the charts: %w", err)
		}
	}
	return nil
}

// formerFiles returns the files of the chart that kolla wrote to a directory before.
func formerFiles(dir string) ([]string, error) {
	sums := map[string]string{}
	list, err := os.ReadFile(filepath.Join(dir, listName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the former chart: %w", err)
	}
	for line := range strings.Lines(string(list)) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			sums[filepath.FromSlash(name)] = sum
		}
	}
	var former []string
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		former = append(former, name)
		if name == listName {
			return nil
		}
		content, err := files.Read(path, maxChartFile)
		switch sum, ours := sums[name]; {
		case !ours:
			return failure.New("The directory has files of others", fmt.Sprintf(
				"kolla export helm replaces the whole directory %s, and did not write %s in it. Move the file away, or choose another directory with -out.", dir, name))
		case err != nil || fmt.Sprintf("%x", sha256.Sum256(content)) != sum:
			return failure.New("A file of the chart was changed", fmt.Sprintf(
				"Somebody changed %s since kolla wrote it, and the change would be lost. Put it into a values file outside of %s, and remove the file.", path, dir))
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return former, err
}

// maxChartFile is the size in bytes of the largest file that can be a part of a chart.
const maxChartFile = 16 << 20
