package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/state"
	"kolla.openstack.org/kolla/state/cluster"
)

// backendFile records the place of a state in the cluster, so that a changed backend block cannot
// start a second state.
var backendFile = filepath.Join(".kolla", "backend.json")

// place is the place of a state in a cluster.
type place struct {
	Namespace string `json:"namespace"`
	Cloud     string `json:"cloud"`
}

func (p place) String() string {
	return fmt.Sprintf("the Secrets kolla-state.%s in namespace %s", p.Cloud, p.Namespace)
}

// remembered returns the recorded place of the state. It is nil if the state was never in a
// cluster.
func remembered() (*place, error) {
	raw, err := files.In(".").Read(backendFile, files.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var p place
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil || p.Namespace == "" || p.Cloud == "" {
		return nil, failure.New(backendFile+" cannot be read", "It says where the state is. If the backend block of the configuration says the same, remove the file.")
	}
	return &p, nil
}

// remember records the place of the state in a cluster. Nil means that the state is in a file.
func remember(p *place) error {
	here := files.In(".")
	if p == nil {
		return here.Remove(backendFile)
	}
	if old, err := remembered(); err == nil && old != nil && *old == *p {
		return nil
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write %s: %w", backendFile, err)
	}
	if err := here.Make(filepath.Dir(backendFile)); err != nil {
		return fmt.Errorf("write %s: %w", backendFile, err)
	}
	return here.Replace(backendFile, append(raw, '\n'))
}

// backends contains two places of the state: the configured place, and the place that commands in
// this directory used last.
type backends struct {
	configured, known *place // in a cluster; nil: in a file
	// given is the backend as configured.
	given configs.Backend
	// left reports that there is a state file although the state is configured to be in the
	// cluster.
	left bool
}

// unreadable is the error of a configuration whose backend cannot be determined.
type unreadable struct {
	diags hcl.Diagnostics
	files map[string]*hcl.File
}

func (e *unreadable) Error() string { return e.diags.Error() }

// backends determines where the state is. It does not show the diagnostics of an *unreadable error.
func (w *Workspace) backends() (backends, error) {
	given, sources, diags := lang.Backend(".", nil)
	if diags.HasErrors() {
		return backends{}, &unreadable{diags, sources}
	}
	b := backends{given: given}
	var err error
	if b.known, err = remembered(); err != nil {
		return b, err
	}
	if given.Kind != configs.KubernetesBackend {
		return b, nil
	}
	b.configured = &place{Namespace: given.Namespace, Cloud: given.Cloud}
	st, err := state.Open(w.stateFile()).Read()
	var damaged *state.DamagedError
	if errors.As(err, &damaged) && damaged.Missing {
		return b, nil // the state was moved, and its backups stay
	}
	b.left = err != nil || !st.Fresh()
	return b, nil
}

// report shows the diagnostics of an unreadable configuration. It returns all other errors
// unchanged.
func (w *Workspace) report(err error) error {
	var e *unreadable
	if !errors.As(err, &e) {
		return err
	}
	w.Printer.Diagnostics(e.diags, e.files)
	return engine.ErrReported
}

// OpenStore opens the store of the state that the configuration names. It refuses a backend
// in which the state cannot be yet.
func (w *Workspace) OpenStore(ctx context.Context) error { return w.report(w.openStore(ctx)) }

func (w *Workspace) openStore(ctx context.Context) error {
	b, err := w.backends()
	if err != nil {
		return err
	}
	const advice = "To move it there:\n\n  kolla init -migrate-state"
	switch {
	case b.configured != nil && w.Flags.IsSet("state"):
		return failure.New("-state is for a state in a file", fmt.Sprintf("The configuration keeps the state in the cluster: %s. Leave -state out, or take the backend block away. To move the state of a file into the cluster:\n\n  kolla init -migrate-state -state=FILE", b.configured))
	case b.left && b.known == nil:
		return failure.New("The state is still in the file "+state.DefaultFile, fmt.Sprintf("The configuration keeps it in the cluster: %s. %s\n\nIf the file is of another cloud, move it away.", b.configured, advice))
	case b.left:
		return failure.New("There is a state file beside a state in the cluster", fmt.Sprintf("The state is in the cluster: %s. Move the file %s away if nothing needs it.", b.known, state.DefaultFile))
	case b.known != nil && b.configured == nil:
		return failure.New("The state is still in the cluster", fmt.Sprintf("It is in %s, and the configuration keeps it in the file %s. %s\n\nOr give the cloud its backend block back.", b.known, w.stateFile(), advice))
	case b.known != nil && *b.known != *b.configured:
		return failure.New("The state is still at another place in the cluster", fmt.Sprintf("It is in %s, and the configuration keeps it in %s. %s", b.known, b.configured, advice))
	}
	w.shared = b.configured
	w.Store, err = w.storeAt(ctx, b.configured, b.given.CloudNamespace)
	return err
}

// StateNamespace returns the namespace of the state, or "" if the state is in a file. OpenStore
// must have been called.
func (w *Workspace) StateNamespace() string {
	if w.shared == nil {
		return ""
	}
	return w.shared.Namespace
}

// storeAt opens the store at a place, or the file if the place is nil.
func (w *Workspace) storeAt(ctx context.Context, p *place, cloudNamespace string) (*state.Store, error) {
	if p == nil {
		return state.Open(w.stateFile()), nil
	}
	client, err := w.Cluster.Client()
	if err != nil {
		return nil, err
	}
	return state.New(cluster.New(ctx, client.Records(p.Namespace), cluster.Options{
		Namespace: p.Namespace, Cloud: p.Cloud, MakeNamespace: p.Namespace != cloudNamespace,
	})), nil
}

// stateFile returns the path of the state file.
func (w *Workspace) stateFile() string {
	if path := w.Flags.String("state"); path != "" {
		return path
	}
	return state.DefaultFile
}

// ReadState opens the store and reads the state.
func (w *Workspace) ReadState(ctx context.Context) (*state.State, error) {
	if err := w.OpenStore(ctx); err != nil {
		return nil, err
	}
	return w.Store.Read()
}

// OpenLastStore is OpenStore for commands that need no configuration. If the configuration cannot
// be read, it warns, and opens the store that commands in this directory used last.
func (w *Workspace) OpenLastStore(ctx context.Context) error {
	err := w.openStore(ctx)
	var e *unreadable
	if !errors.As(err, &e) {
		return err
	}
	if w.shared, err = remembered(); err != nil {
		return err
	}
	if w.Store, err = w.storeAt(ctx, w.shared, ""); err != nil {
		return err
	}
	w.Printer.Warn("The configuration has errors", fmt.Sprintf("kolla validate shows them. The state is read from the last known place: %s.", w.Store.Path()))
	return nil
}

// Migrate moves the state from its known place to the configured place. If one of them is a file,
// -state names it.
func (w *Workspace) Migrate(ctx context.Context) error {
	b, err := w.backends()
	if err != nil {
		return w.report(err)
	}
	from, named := b.known, b.configured != nil && w.Flags.IsSet("state")
	settled := from == b.configured || from != nil && b.configured != nil && *from == *b.configured
	switch {
	case named && from != nil && !settled:
		return failure.New("There are two states to move", fmt.Sprintf("This directory knows of a state at another place in the cluster: %s. Move it first, without -state.", from))
	case named && !b.left:
		return failure.New("There is no state in "+w.stateFile(), "-state names the file from which the state moves into the cluster.")
	case named:
		from = nil
	case b.left && from != nil:
		return failure.New("There is a state file beside a state in the cluster", fmt.Sprintf("The state is in the cluster: %s. Move the file %s away if nothing needs it.", from, state.DefaultFile))
	case settled, from == nil && !b.left:
		fmt.Fprintln(w.Streams.Out, "There is no state to move: this directory knows of none at another place.")
		return nil
	}
	source, err := w.storeAt(ctx, from, "")
	if err != nil {
		return err
	}
	target, err := w.storeAt(ctx, b.configured, b.given.CloudNamespace)
	if err != nil {
		return err
	}
	if st, err := source.Read(); err == nil && b.configured != nil {
		if err := st.CheckCloud(b.configured.Cloud); err != nil {
			return err
		}
	}
	w.Streams.MayWrite()
	moved, err := state.Move(ctx, source, target, state.LockInfo{Operation: "init -migrate-state", Version: w.Streams.Version}, w.Flags.Duration("lock-timeout"))
	var before *state.MovedError
	if errors.As(err, &before) && before.To == target.Path() {
		st, failed := target.Read()
		switch {
		case failed != nil:
			err = failed
		case st.Fresh(): // a file with that name in another user's directory
			return failure.New("The state is a file on another machine", fmt.Sprintf("Somebody moved it from %s to a file %q with kolla init -migrate-state. Copy that file here; or, where it is, move the state back into the cluster.", source.Path(), before.To))
		default:
			err = nil // another user has moved the state there
		}
	}
	if err != nil {
		return err
	}
	if err := remember(b.configured); err != nil {
		return err
	}
	if moved != nil {
		fmt.Fprintf(w.Streams.Out, "The state has moved from %s to %s, with %d objects.\n", source.Path(), target.Path(), len(moved.Objects))
	}
	return nil
}

// StateFlags returns the options of commands that only need the state.
func StateFlags() []cli.Flag { return append(ClusterFlags(), StateFlag()) }
