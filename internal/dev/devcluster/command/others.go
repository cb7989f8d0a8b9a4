package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"kolla.openstack.org/kolla/internal/dev/devcluster/cluster"
	"kolla.openstack.org/kolla/internal/dev/devcluster/components"
)

func down(_ context.Context, args []string, s streams) error {
	flags := newFlags("down", "-dir DIR [-delete]", s)
	path := flags.String("dir", "", "`directory` of the cluster")
	remove := flags.Bool("delete", false, "remove the directory with all data too")
	if _, err := parse(flags, args); err != nil {
		return err
	}
	dir, err := cluster.Abs(*path)
	if err != nil {
		return usageError("down: %v", err)
	}
	stopped, err := cluster.Stop(dir)
	if err != nil {
		return err
	}
	if stopped {
		fmt.Fprintln(s.err, "cluster stopped")
	} else {
		fmt.Fprintln(s.err, "cluster was not running")
	}
	if !*remove {
		return nil
	}
	if err := cluster.Delete(dir); err != nil {
		return err
	}
	fmt.Fprintln(s.err, "deleted", dir)
	return nil
}

func status(ctx context.Context, args []string, s streams) error {
	flags := newFlags("status", "-dir DIR [-json]", s)
	path := flags.String("dir", "", "`directory` of the cluster")
	asJSON := flags.Bool("json", false, "print JSON")
	if _, err := parse(flags, args); err != nil {
		return err
	}
	dir, err := cluster.Abs(*path)
	if err != nil {
		return usageError("status: %v", err)
	}
	found, err := cluster.ReadStatus(ctx, dir)
	if err != nil && !errors.Is(err, cluster.ErrNoCluster) {
		return err
	}
	if errors.Is(err, cluster.ErrNoCluster) {
		found.Problem = err.Error()
	}
	if *asJSON {
		encoder := json.NewEncoder(s.out)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(found); err != nil {
			return fmt.Errorf("print status: %w", err)
		}
	} else {
		writeStatus(s.out, found)
	}
	if !found.Running {
		return exitError{code: exitNotRunning}
	}
	return nil
}

func writeStatus(w io.Writer, found cluster.Status) {
	if !found.Running {
		fmt.Fprintln(w, "not running:", found.Dir)
		if found.Problem != "" {
			fmt.Fprintln(w, "  "+found.Problem)
		}
		return
	}
	state := "running"
	if !found.Ready {
		state = "starting"
	}
	fmt.Fprintf(w, "%s: %s, process %d, for %s\n", state, found.URL, found.PID, time.Since(*found.Started).Round(time.Second))
	fmt.Fprintln(w, "  kubeconfig:", found.Kubeconfig)
	for _, c := range found.Components {
		life := "process " + fmt.Sprint(c.PID)
		if !c.Alive {
			life = "ended"
		}
		fmt.Fprintf(w, "  %s: %s, restarted %d times\n", c.Name, life, c.Restarts)
	}
	for _, node := range found.Nodes {
		ready := "ready"
		if !node.Ready {
			ready = "not ready"
		}
		fmt.Fprintf(w, "  node %s: %s\n", node.Name, ready)
	}
	if found.Problem != "" {
		fmt.Fprintln(w, "  "+found.Problem)
	}
	fmt.Fprintf(w, "  kubernetes %s, etcd %s, kwok %s\n",
		found.Versions["kubernetes"], found.Versions["etcd"], found.Versions["kwok"])
}

// kubectl takes only a leading -dir. It passes all other arguments to kubectl. Without -dir
// the environment must name the cluster, because kubectl's default may be a real cluster.
func kubectl(_ context.Context, args []string, _ streams) error {
	path, rest, err := leadingDir(args)
	if err != nil {
		return err
	}
	kubeconfig := os.Getenv("KUBECONFIG")
	if path != "" {
		dir, err := cluster.Abs(path)
		if err != nil {
			return usageError("kubectl: %v", err)
		}
		if err := cluster.CheckRunning(dir); err != nil {
			return err
		}
		kubeconfig = dir.Kubeconfig()
	}
	if kubeconfig == "" {
		return usageError("kubectl: no cluster given; name its directory with -dir DIR before kubectl's own arguments, or set KUBECONFIG")
	}
	components.Kubectl(kubeconfig, rest)
	return nil
}

// leadingDir removes a leading -dir DIR or -dir=DIR, also with two dashes.
func leadingDir(args []string) (dir string, rest []string, err error) {
	if len(args) == 0 {
		return "", nil, nil
	}
	name, value, joined := strings.Cut(strings.TrimPrefix(args[0], "-"), "=")
	if strings.TrimPrefix(name, "-") != "dir" || !strings.HasPrefix(args[0], "-") {
		return "", args, nil
	}
	if joined {
		return value, args[1:], nil
	}
	if len(args) < 2 {
		return "", nil, usageError("kubectl: -dir needs a directory")
	}
	return args[1], args[2:], nil
}

func restart(ctx context.Context, args []string, s streams) error {
	flags := newFlags("restart", "-dir DIR COMPONENT\n  COMPONENT is one that status lists; a real node is one too", s)
	path := flags.String("dir", "", "`directory` of the cluster")
	rest, err := parse(flags, args, "COMPONENT")
	if err != nil {
		return err
	}
	dir, err := cluster.Abs(*path)
	if err != nil {
		return usageError("restart: %v", err)
	}
	if err := cluster.Restart(ctx, dir, rest[0]); err != nil {
		return err
	}
	fmt.Fprintln(s.err, rest[0], "was killed and runs again")
	return nil
}

func off(_ context.Context, args []string, s streams) error {
	flags := newFlags("off", "-dir DIR NODE\n  NODE is a real node; restart switches it on again", s)
	path := flags.String("dir", "", "`directory` of the cluster")
	rest, err := parse(flags, args, "NODE")
	if err != nil {
		return err
	}
	dir, err := cluster.Abs(*path)
	if err != nil {
		return usageError("off: %v", err)
	}
	if err := cluster.Off(dir, rest[0]); err != nil {
		return err
	}
	fmt.Fprintln(s.err, rest[0], "is off")
	return nil
}

// outside runs a command on the network of the real nodes.
func outside(ctx context.Context, args []string, s streams) error {
	flags := newFlags("outside", "-dir DIR [-address ADDRESS] [-provider ADDRESS] COMMAND [ARGUMENT]...", s)
	path := flags.String("dir", "", "`directory` of the cluster")
	address := flags.String("address", "10.200.0.100", "`address` that the command has, in 10.200.0.0/24")
	provider := flags.String("provider", "", "`address` that the command has on the provider network too, in 10.202.0.0/24 (default: none)")
	root := flags.String("root", "", "`directory` with the file system of the machine; in it, /mnt is the working directory (default: as here)")
	rest, err := parseLeading(flags, args, "COMMAND")
	if err != nil {
		return err
	}
	dir, err := cluster.Abs(*path)
	if err != nil {
		return usageError("outside: %v", err)
	}
	cmd, err := cluster.Outside(dir, cluster.Visitor{Address: *address, ProviderAddress: *provider, Root: *root}, rest)
	if err != nil {
		return err
	}
	// Exec replaces this process by the command, so the command receives signals directly.
	return syscall.Exec(cmd.Path, cmd.Args, cmd.Environ())
}

func printVersions(_ context.Context, args []string, s streams) error {
	if _, err := parse(newFlags("version", "", s), args); err != nil {
		return err
	}
	versions := cluster.Versions()
	for _, name := range []string{"kubernetes", "etcd", "kwok"} {
		fmt.Fprintln(s.out, name, versions[name])
	}
	return nil
}
