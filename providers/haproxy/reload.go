package haproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// MasterSocket is the socket of HAProxy's master process in Debian's package (haproxy -S).
const MasterSocket = "/run/haproxy-master.sock"

// reloadTimeout limits a reload. HAProxy answers when the new process has read the file.
const reloadTimeout = 30 * time.Second

// RefusedError says why HAProxy does not load its file. It goes on with what it had.
type RefusedError struct{ Log string }

func (e *RefusedError) Error() string { return "HAProxy refuses its file:\n" + e.Log }

// Reload lets HAProxy load its file, through the socket of its master process. Connections stay with
// the old process until they end. HAProxy before 2.7 does not tell whether it accepts the file.
//
// The answer is "Success=1" or "Success=0", a line "--", and what the new process said; see "reload" in
// HAProxy's management guide.
func Reload(ctx context.Context, socket string) error {
	ctx, cancel := context.WithTimeout(ctx, reloadTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("reach HAProxy: %w", err)
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := io.WriteString(conn, "reload\n"); err != nil {
		return fmt.Errorf("ask HAProxy to load its file: %w", err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		return errors.Join(fmt.Errorf("ask HAProxy to load its file: %w", err), ctx.Err())
	}
	result, log, _ := strings.Cut(string(answer), "\n--\n")
	if strings.TrimSpace(result) == "Success=0" {
		return &RefusedError{strings.TrimSpace(log)}
	}
	return nil
}
