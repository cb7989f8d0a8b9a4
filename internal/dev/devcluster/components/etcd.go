package components

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"

	"go.etcd.io/etcd/server/v3/embed"
)

// EtcdSocket is etcd's socket, relative to the working directory of both etcd
// and its client: a whole path may be longer than a socket's may be.
const EtcdSocket = "etcd.sock"

// EtcdURL is where the API server reaches etcd.
const EtcdURL = "unix://" + EtcdSocket

// runEtcd runs a single member on unix sockets in the working directory.
func runEtcd(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(Etcd, flag.ContinueOnError)
	dataDir := flags.String("data-dir", "", "where the data are")
	if err := flags.Parse(args); err != nil {
		return err
	}
	server, err := embed.StartEtcd(etcdConfig(*dataDir))
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	defer server.Close()
	select {
	case <-ctx.Done():
		return nil
	case err := <-server.Err():
		return fmt.Errorf("run etcd: %w", err)
	case <-server.Server.StopNotify():
		return errors.New("run etcd: it stopped by itself")
	}
}

func etcdConfig(dataDir string) *embed.Config {
	client := url.URL{Scheme: "unix", Host: EtcdSocket}
	peer := url.URL{Scheme: "unix", Host: "etcd-peer.sock"}
	config := embed.NewConfig()
	config.Name = "devcluster"
	config.Dir = dataDir
	config.ListenClientUrls = []url.URL{client}
	config.ListenPeerUrls = []url.URL{peer}
	// Nobody reads the advertised addresses of a single member, and etcd takes
	// no socket for them.
	config.AdvertiseClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:1"}}
	config.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:1"}}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	// A killed process loses nothing without fsync, only a power cut does; and
	// a single member need not wait for others before it elects itself.
	config.UnsafeNoFsync = true
	config.TickMs = 10
	config.ElectionMs = 100
	config.QuotaBackendBytes = 4 << 30
	config.AutoCompactionMode = embed.CompactorModePeriodic
	config.LogLevel = "warn"
	config.LogOutputs = []string{"stderr"}
	return config
}
