package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
)

// ports are the loopback ports of a cluster.
type ports struct {
	APIServer int `json:"apiserver"`
	// Kubelet is where the simulated nodes answer for logs.
	Kubelet int `json:"kubelet"`
}

// choosePorts keeps the ports of the run before where they are still free, so
// that kubeconfig files made then go on working.
func choosePorts(before ports) (ports, error) {
	now := before
	if !portFree(now.APIServer) {
		port, err := freePort()
		if err != nil {
			return ports{}, err
		}
		now.APIServer = port
	}
	if now.Kubelet == now.APIServer || !portFree(now.Kubelet) {
		port, err := freePort()
		if err != nil {
			return ports{}, err
		}
		now.Kubelet = port
	}
	return now, nil
}

// freePort looks below the range from which the kernel takes the source ports
// of outgoing connections: a port in that range may be free now and taken by
// any connection the next time the cluster starts.
func freePort() (int, error) {
	const lowest = 20000
	highest := ephemeralLow()
	for range 100 {
		if highest <= lowest+1000 {
			break
		}
		port := lowest + rand.IntN(highest-lowest)
		if portFree(port) {
			return port, nil
		}
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port on 127.0.0.1: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// portFree asks the kernel by listening there for a moment.
func portFree(port int) bool {
	if port <= 0 {
		return false
	}
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	listener.Close()
	return true
}

func ephemeralLow() int {
	var low, high int
	data, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(data), &low, &high); err != nil {
		return 0
	}
	return low
}
