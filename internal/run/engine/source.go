package engine

import (
	"context"
	"os"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/providers/openstack/options"
)

// Source loads a configuration, as often as more of its data is known.
type Source struct {
	// Dir is the directory of the configuration. Names of secret files are relative to it.
	Dir string
	// Confined: secrets cannot come from files and from environment variables. These are not of the
	// author of the configuration.
	Confined bool
	// Evaluate evaluates the configuration. The given options determine which data it may read, and
	// Evaluate adds all other options. It returns an error if a variable has no value and the
	// question for it is not answered.
	Evaluate func(lang.Options) (*configs.Config, hcl.Diagnostics, error)
	Reporter Reporter

	reported map[string]bool // warnings that were shown already
}

// Directory returns the configuration in a directory, with the catalogue of this program.
// Variables get the given values, and values from the environment.
func Directory(dir string, reporter Reporter, variables ...lang.Var) *Source {
	return &Source{Dir: dir, Reporter: reporter, Evaluate: func(o lang.Options) (*configs.Config, hcl.Diagnostics, error) {
		o.Catalogue, o.Vars, o.Environ = openstack.Catalogue(), variables, os.Environ()
		config, diags := lang.Load(dir, o)
		return config, diags, nil
	}}
}

// Loading says how a configuration is loaded.
type Loading struct {
	// Cluster is where data blocks read. Nil: they are not read.
	Cluster *Cluster
	// Later has the addresses of data blocks that are not read yet, because the plan
	// changes their objects.
	Later map[string]bool
	// Settled: the dependencies of data blocks are applied, so an object that does not
	// exist is an error.
	Settled bool
	// Restricted: the plan is for a part of the cloud.
	Restricted bool
	// Destroy: the plan is a destroy, for which data do not matter.
	Destroy bool
	// Check: config files of services are checked for options that they do not have.
	Check bool
	// Quiet: warnings that only give advice are not shown.
	Quiet bool
}

// Loaded is a configuration, and how it was loaded.
type Loaded struct {
	Config  *configs.Config
	Loading Loading
}

// Load loads the configuration and shows its diagnostics. The error is ErrReported if the
// configuration has errors.
func (s *Source) Load(ctx context.Context, l Loading) (Loaded, error) {
	config, diags, err := s.Read(ctx, l)
	if err != nil {
		return Loaded{}, err
	}
	return s.Accept(config, diags, l)
}

// Read loads the configuration and shows nothing.
func (s *Source) Read(ctx context.Context, l Loading) (*configs.Config, hcl.Diagnostics, error) {
	var o lang.Options
	o.SilenceOffline = l.Destroy
	if l.Cluster != nil {
		o.Read = func(q configs.DataQuery) ([]map[string]any, error) { return l.Cluster.Read(ctx, q) }
		o.Later, o.Settled, o.Restricted = l.Later, l.Settled, l.Restricted
		o.Sensitive = l.Cluster.Secrets.Add
	}
	return s.Evaluate(o)
}

// Accept shows the diagnostics of a configuration. The error is ErrReported if it has
// errors. A configuration with undeclared imports is loaded again when they are declared,
// so nothing is shown yet.
func (s *Source) Accept(config *configs.Config, diags hcl.Diagnostics, l Loading) (Loaded, error) {
	loaded := Loaded{Config: config, Loading: l}
	if len(config.Undeclared) > 0 && !diags.HasErrors() {
		return loaded, nil
	}
	if diags.HasErrors() && l.Check {
		diags = append(diags, options.CheckPart(config)...)
	}
	if l.Quiet {
		diags = slices.DeleteFunc(diags, lang.Advice)
	}
	s.Reporter.Diagnostics(s.unreported(diags), config.Files)
	if diags.HasErrors() {
		return Loaded{}, ErrReported
	}
	return loaded, nil
}

// unreported leaves out the warnings that were shown already: a configuration is loaded
// several times.
func (s *Source) unreported(diags hcl.Diagnostics) hcl.Diagnostics {
	if s.reported == nil {
		s.reported = map[string]bool{}
	}
	return slices.DeleteFunc(slices.Clone(diags), func(d *hcl.Diagnostic) bool {
		if d.Severity == hcl.DiagError {
			return false
		}
		key := d.Summary + "\n" + d.Detail
		if d.Subject != nil {
			key += "\n" + d.Subject.String()
		}
		before := s.reported[key]
		s.reported[key] = true
		return before
	})
}
