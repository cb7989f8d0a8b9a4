package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"kolla.openstack.org/kolla/internal/dev/devcluster/fabric"
)

// The commands of this program that run the parts of Kubernetes on a node.
const (
	KubeletCommand = "kubelet"
	ProxyCommand   = "kube-proxy"
)

// Serve runs the services of a booted machine until ctx ends.
func Serve(ctx context.Context, settings Settings) error {
	for path, content := range settings.configFiles() {
		if err := writeFile(path, content); err != nil {
			return err
		}
	}
	if err := setSysctls(); err != nil {
		return err
	}
	if err := hidePods(settings); err != nil {
		return err
	}
	cable, err := plugIn(ctx, settings)
	if err != nil {
		return err
	}
	logs := "/var/log/machine"
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	services := []service{
		{"containerd", []string{programsMount + "/containerd", "--config", etcFile(containerdConfigFile)}},
		{KubeletCommand, append([]string{"/proc/self/exe", KubeletCommand}, settings.kubeletFlags()...)},
		{ProxyCommand, append([]string{"/proc/self/exe", ProxyCommand}, settings.proxyFlags()...)},
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return keepPluggedIn(ctx, cable) })
	group.Go(func() error { return followNodes(ctx, settings) })
	for i, s := range services {
		group.Go(func() error {
			if i > 0 {
				if err := answering(ctx, containerdSocket); err != nil {
					return err
				}
			}
			return s.keepRunning(ctx, filepath.Join(logs, s.name+".log"))
		})
	}
	return group.Wait()
}

func etcFile(name string) string { return etcDir + "/" + name }

func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("configure machine: %w", err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		return fmt.Errorf("configure machine: %w", err)
	}
	return nil
}

// setSysctls sets those that a network namespace has for itself.
func setSysctls() error {
	for _, name := range []string{"ipv4/ip_forward", "bridge/bridge-nf-call-iptables"} {
		if err := os.WriteFile("/proc/sys/net/"+name, []byte("1\n"), 0o644); err != nil {
			return fmt.Errorf("set sysctl %s: %w", name, err)
		}
	}
	return nil
}

// hidePods masquerades pods as the machine for destinations without routes to pods. Between
// pods, also on different machines, it keeps the pods' addresses.
func hidePods(settings Settings) error {
	pods := settings.PodNetwork.String()
	out, err := exec.Command("iptables", "-w", "-t", "nat", "-A", "POSTROUTING", "-s", pods, "!", "-d", pods, "-j", "MASQUERADE").CombinedOutput()
	if err != nil {
		return fmt.Errorf("hide pods behind the machine: %w: %s", err, out)
	}
	return nil
}

// plugIn connects the machine to the fabric as soon as the fabric runs.
func plugIn(ctx context.Context, settings Settings) (cable *fabric.Cable, err error) {
	err = insist(ctx, func() error {
		cable, err = fabric.PlugIn(fabricMount, fabric.Plugs{
			Node:     settings.Address,
			Tunnel:   settings.TunnelAddress,
			Provider: true,
		})
		return err
	})
	return cable, err
}

// keepPluggedIn connects the machine again when the fabric was started again.
func keepPluggedIn(ctx context.Context, cable *fabric.Cable) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-cable.Lost():
		}
		if err := insist(ctx, cable.PlugInAgain); err != nil {
			return nil
		}
	}
}

// insist repeats attempt until it succeeds or ctx ends, and logs each new error.
func insist(ctx context.Context, attempt func() error) error {
	const pause = 100 * time.Millisecond
	for last := ""; ; {
		err := attempt()
		if err == nil {
			return nil
		}
		if err.Error() != last {
			last = err.Error()
			log.Print(last)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// answering waits until a process listens at a socket.
func answering(ctx context.Context, socket string) error {
	for {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// service is a program that restarts whenever it ends.
type service struct {
	name string
	argv []string
}

func (s service) keepRunning(ctx context.Context, logFile string) error {
	const pause = time.Second
	for {
		out, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return fmt.Errorf("start %s: %w", s.name, err)
		}
		err = s.run(ctx, out)
		out.Close()
		if ctx.Err() != nil {
			return nil
		}
		log.Printf("%s ended (%v) and is started again", s.name, err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

func (s service) run(ctx context.Context, out io.Writer) error {
	// The kernel ends the service with the thread that has started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, s.argv[0], s.argv[1:]...)
	cmd.Env = append(os.Environ(), "PATH="+programsMount+":"+os.Getenv("PATH"), "HOME=/var/lib")
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}
