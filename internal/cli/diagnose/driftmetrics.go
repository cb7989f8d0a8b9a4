package diagnose

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/present/drift"
	"kolla.openstack.org/kolla/internal/run/notify"
)

// metricsTarget is where -metrics puts the metrics. The zero value is nowhere.
type metricsTarget struct {
	file    files.Output
	gateway string // its URL
}

// targetOf reads -metrics. It refuses a file that contains other content than metrics of kolla.
func targetOf(text string) (metricsTarget, error) {
	if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
		return metricsTarget{gateway: text}, nil
	}
	file := files.Output{Path: text, Option: "-metrics", Content: "metrics of kolla drift", Ours: files.Begins(drift.MetricsBegin)}
	return metricsTarget{file: file}, file.Check()
}

// write writes the metrics of a look.
func (m metricsTarget) write(ctx context.Context, look *drift.Look) error {
	switch {
	case m.gateway != "":
		return notify.Push(ctx, m.gateway, look.Cloud, drift.ContentType, drift.Metrics(look), true)
	case m.file.Path != "":
		return m.replace(drift.Metrics(look))
	}
	return nil
}

// failed writes that a look failed, and keeps the other metrics. looked is the time of the last
// successful look; zero: the time is unknown.
func (m metricsTarget) failed(ctx context.Context, cloud string, looked time.Time) error {
	switch {
	case m.gateway != "":
		return notify.Push(ctx, m.gateway, cloud, drift.ContentType, drift.Failure(cloud), false)
	case m.file.Path != "":
		former, err := files.Read(m.file.Path, files.MaxSize)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read the earlier metrics: %w", err)
		}
		return m.replace(drift.FailedMetrics(former, cloud, looked))
	}
	return nil
}

// replace writes the file in one step, with permissions that let node_exporter, another user, read
// it.
func (m metricsTarget) replace(text []byte) error {
	return m.file.Write(text, renameio.IgnoreUmask())
}
