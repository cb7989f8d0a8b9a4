package cluster

import (
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestProcessIsNotMistaken checks that a process with a reused PID does not count as the original
// process, and gets no signal.
func TestProcessIsNotMistaken(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	process, err := identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	older, otherBoot := process, process
	older.Start--
	otherBoot.Boot = "another"
	for _, mistaken := range []Process{older, otherBoot, {}, {PID: -1}} {
		if mistaken.Alive() {
			t.Errorf("%+v is taken for %+v", mistaken, process)
		}
		if err := mistaken.signal(syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	time.Sleep(20 * time.Millisecond)
	if !process.Alive() {
		t.Fatal("the wrong process was killed")
	}
	if err := process.signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if left := waitGone(5*time.Second, process); len(left) > 0 {
		t.Error("a killed process, though not waited for yet, counts as alive")
	}
	if err := process.signal(syscall.SIGKILL); err != nil {
		t.Errorf("signal to a process that has ended: %v", err)
	}
}

func TestIdentifyOdd(t *testing.T) {
	if _, err := identify(os.Getpid()); err != nil {
		t.Error(err)
	}
	if _, err := identify(1 << 30); err == nil {
		t.Error("a process that is not there was identified")
	}
}

func TestChoosePorts(t *testing.T) {
	first, err := choosePorts(ports{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := choosePorts(first)
	if err != nil || again != first {
		t.Errorf("ports were %v and became %v (%v)", first, again, err)
	}
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: first.APIServer})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	moved, err := choosePorts(first)
	if err != nil || moved.APIServer == first.APIServer || moved.Kubelet != first.Kubelet {
		t.Errorf("with a port taken, ports were %v and became %v (%v)", first, moved, err)
	}
}
