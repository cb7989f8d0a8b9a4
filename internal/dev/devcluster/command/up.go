package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"kolla.openstack.org/kolla/internal/dev/devcluster/cluster"
	"kolla.openstack.org/kolla/internal/dev/devcluster/nodes"
)

// superviseName is the internal command that runs a detached cluster. It takes the flags of
// up.
const superviseName = "supervise"

// upFlags are the flags of up.
type upFlags struct {
	dir      string
	numbered int
	named    []nodes.Spec
	real     cluster.Real
	audit    bool
	detach   bool
	untilEOF bool
	remove   bool
	// nodesGiven is set if a flag for either kind of node was given.
	nodesGiven bool
}

func (f *upFlags) register(flags *flag.FlagSet) {
	flags.StringVar(&f.dir, "dir", "", "`directory` of the cluster; it is made if it is not there")
	flags.Func("nodes", "`number` of simulated nodes, named node-1 and so on (1 for a new cluster)", func(text string) error {
		f.nodesGiven = true
		if _, err := fmt.Sscanf(text+"\n", "%d\n", &f.numbered); err != nil || f.numbered < 0 {
			return errors.New("it must be a number, 0 or more")
		}
		return nil
	})
	flags.Func("node", "a simulated node, as `NAME[=label=value,...]`; may be given again", func(text string) error {
		f.nodesGiven = true
		spec, err := nodes.ParseSpec(text)
		f.named = append(f.named, spec)
		return err
	})
	flags.Var((*realNodes)(&f.real.Nodes), "real", "a real node with containerd and a kubelet, or `-real=NUMBER` of them; takes root")
	flags.StringVar(&f.real.Programs, "programs", beside("node"), "`directory` with the programs of real nodes")
	flags.StringVar(&f.real.Images, "images", beside("images"), "`directory` of an OCI image layout with all images for real nodes")
	flags.BoolVar(&f.audit, "audit", false, "write what the API server is asked for into audit.log")
	flags.BoolVar(&f.detach, "detach", false, "leave the cluster running in the background when it is ready")
	flags.BoolVar(&f.untilEOF, "until-eof", false, "stop also when standard input ends")
	flags.BoolVar(&f.remove, "delete", false, "delete the directory when the cluster has stopped")
}

// realNodes is a number. The flag without a value means one.
type realNodes int

func (n *realNodes) String() string { return strconv.Itoa(int(*n)) }

// IsBoolFlag lets the flag be given without a value.
func (n *realNodes) IsBoolFlag() bool { return true }

func (n *realNodes) Set(text string) error {
	if on, err := strconv.ParseBool(text); err == nil && text != "0" && text != "1" {
		*n = 0
		if on {
			*n = 1
		}
		return nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 0 || number > cluster.MaxRealNodes {
		return fmt.Errorf("it must be a number from 0 to %d", cluster.MaxRealNodes)
	}
	*n = realNodes(number)
	return nil
}

// beside returns the path of a file that is built next to this program.
func beside(name string) string {
	program, err := os.Executable()
	if err != nil {
		return name
	}
	return filepath.Join(filepath.Dir(program), name)
}

// options converts the flags to options of the package cluster.
func (f *upFlags) options() (cluster.Options, error) {
	if f.detach && f.remove {
		return cluster.Options{}, usageError("up: -detach leaves the cluster running and -delete deletes it; give one of them")
	}
	if f.detach && f.untilEOF {
		return cluster.Options{}, usageError("up: -detach leaves the cluster running and -until-eof stops it; give one of them")
	}
	dir, err := cluster.Abs(f.dir)
	if err != nil {
		return cluster.Options{}, usageError("up: %v", err)
	}
	for _, path := range []*string{&f.real.Programs, &f.real.Images} {
		if *path, err = filepath.Abs(*path); err != nil {
			return cluster.Options{}, usageError("up: %v", err)
		}
	}
	specs, err := nodes.Merge(nodes.Numbered(f.numbered), f.named)
	if err != nil {
		return cluster.Options{}, usageError("up: %v", err)
	}
	return cluster.Options{Dir: dir, Nodes: specs, NodesGiven: f.nodesGiven, Real: f.real, Audit: f.audit}, nil
}

func up(ctx context.Context, args []string, s streams) error {
	var given upFlags
	flags := newFlags("up", "-dir DIR [flags]", s)
	given.register(flags)
	if _, err := parse(flags, args); err != nil {
		return err
	}
	options, err := given.options()
	if err != nil {
		return err
	}
	if err := cluster.CheckBuild(); err != nil {
		return err
	}
	began := time.Now()
	options.Progress = func(line string) { fmt.Fprintln(s.err, line) }
	options.Ready = func() {
		fmt.Fprintf(s.err, "cluster ready (%.1f s); to use it:\n%s\n", time.Since(began).Seconds(), cluster.Usage(options.Dir))
	}
	if given.detach {
		// The path must be absolute, because the supervisor runs in another directory.
		again := append([]string{superviseName}, args...)
		again = append(again, "-dir", string(options.Dir))
		if err := cluster.Detach(ctx, options, again); err != nil {
			return err
		}
		options.Ready()
		return nil
	}
	if given.untilEOF {
		ctx = untilEOF(ctx, s.in)
	}
	if err := cluster.Run(ctx, options); err != nil || !given.remove {
		return err
	}
	return cluster.Delete(options.Dir)
}

// untilEOF ends the context when everything has been read.
func untilEOF(ctx context.Context, in io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	return ctx
}

// supervise returns the process that up -detach leaves running.
func supervise(ctx context.Context, args []string, s streams) error {
	var given upFlags
	flags := newFlags(superviseName, "", s)
	given.register(flags)
	if _, err := parse(flags, args); err != nil {
		return err
	}
	options, err := given.options()
	if err != nil {
		return err
	}
	reports := os.NewFile(cluster.ProgressFD, "progress")
	report := func(line string) {
		fmt.Fprintln(s.err, time.Now().Format(time.TimeOnly), line)
		// Fails once reports is closed, which is when nobody reads them.
		_, _ = fmt.Fprintln(reports, line)
	}
	options.Progress = report
	options.Ready = func() {
		fmt.Fprintln(s.err, time.Now().Format(time.TimeOnly), "cluster ready")
		reports.Close()
	}
	if err := cluster.Run(ctx, options); err != nil {
		report(err.Error())
		return exitError{code: exitFailed}
	}
	return nil
}
