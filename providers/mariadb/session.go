package mariadb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"kolla.openstack.org/kolla/providers"
)

// patience limits the time for a login, and for each statement.
const patience = 10 * time.Second

// Numbers of errors of MariaDB.
const (
	accessDenied       = 1045
	accessDeniedPlugin = 1698 // the user logs in with something else than a password
	tooManyConnections = 1040
	notInCluster       = 1047 // a member of a cluster that is not in sync
)

// session reads from one server as an administrator. It logs in with the first statement, and sends each
// statement once. Several goroutines may use it.
type session struct {
	forwarder providers.Forwarder
	server    providers.PodServer
	password  string

	mu      sync.Mutex // of the fields below
	conn    func() (*sql.Conn, error)
	answers map[string]func() ([]row, error)
	open    []io.Closer // the connection and its pool

	one sync.Mutex // one statement at a time
}

// row is a row of a table, by the names of its columns. Columns that are NULL are not in it.
type row map[string]string

func newSession(forwarder providers.Forwarder, server providers.PodServer, password string) *session {
	return &session{forwarder: forwarder, server: server, password: password, answers: map[string]func() ([]row, error){}}
}

// close ends the connection, if there is one.
func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.open {
		_ = c.Close() // it was only read
	}
}

// query returns the answer to a statement.
func (s *session) query(ctx context.Context, statement string) ([]row, error) {
	s.mu.Lock()
	if s.conn == nil {
		s.conn = sync.OnceValues(func() (*sql.Conn, error) { return s.logIn(ctx) })
	}
	if s.answers[statement] == nil {
		s.answers[statement] = sync.OnceValues(func() ([]row, error) { return s.read(ctx, statement) })
	}
	conn, answer := s.conn, s.answers[statement]
	s.mu.Unlock()
	if _, err := conn(); err != nil {
		return nil, err
	}
	return answer()
}

// read sends a statement.
func (s *session) read(ctx context.Context, statement string) ([]row, error) {
	conn, err := s.conn()
	if err != nil {
		return nil, err
	}
	s.one.Lock()
	defer s.one.Unlock()
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := rowsOf(limited, conn, statement)
	if err != nil {
		return nil, s.explain(ctx, limited, err)
	}
	return found, nil
}

func rowsOf(ctx context.Context, conn *sql.Conn, statement string) (found []row, err error) {
	rows, err := conn.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		r := row{}
		for i, v := range values {
			if v.Valid {
				r[columns[i]] = v.String
			}
		}
		found = append(found, r)
	}
	return found, rows.Err()
}

// logIn logs in to the first member that answers.
func (s *session) logIn(ctx context.Context) (*sql.Conn, error) {
	if s.password == "" {
		return nil, &providers.UncomparedError{Why: fmt.Sprintf("Secret %s has no password for MariaDB", s.server.Password.Name)}
	}
	var silent []error
	for _, member := range s.server.Members {
		conn, err := s.logInTo(ctx, member)
		switch {
		case err == nil:
			return conn, nil
		case !passes(err):
			return nil, err
		}
		silent = append(silent, err)
	}
	return nil, &providers.UncomparedError{Why: "MariaDB does not answer: " + s.reasons(silent)}
}

// passes reports whether another member may answer.
func passes(err error) bool {
	var silent *providers.NoAnswerError
	var refused *mysql.MySQLError
	return errors.As(err, &silent) || errors.As(err, &refused) && (refused.Number == notInCluster || refused.Number == tooManyConnections)
}

// reasons lists why no member answers.
func (s *session) reasons(silent []error) string {
	var all []string
	for i, err := range silent {
		why := err.Error()
		var from *providers.NoAnswerError
		if errors.As(err, &from) {
			why = from.Why
		}
		if len(silent) > 1 {
			why = s.server.Members[i].Pod + ": " + why
		}
		all = append(all, why)
	}
	return strings.Join(all, "; ")
}

// logInTo logs in to a member. The error is an *UncomparedError, or one with which another member may be
// asked (passes), or ends the plan.
func (s *session) logInTo(ctx context.Context, member providers.PodPort) (*sql.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	there := &listening{}
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr = s.server.Username, s.password, "portforward", member.Pod
	config.Logger = &mysql.NopLogger{} // the errors say the same
	config.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := s.forwarder.Forward(ctx, member)
		if err != nil {
			return nil, err
		}
		there.Conn = conn
		return there, nil
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	opened, err := connector.Connect(limited)
	if err != nil && there.failed != nil {
		err = there.failed
	}
	if err != nil {
		if !passes(err) && ctx.Err() == nil && limited.Err() != nil {
			err = &providers.NoAnswerError{Namespace: member.Namespace, Pod: member.Pod, Why: fmt.Sprintf("nothing came within %s", patience)}
		}
		if passes(err) {
			return nil, err
		}
		return nil, s.explain(ctx, limited, err)
	}
	pool := sql.OpenDB(&once{conn: opened, driver: connector.Driver()})
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	s.mu.Lock()
	s.open = []io.Closer{conn, pool}
	s.mu.Unlock()
	return conn, nil
}

// explain returns the error of a statement or login. An error of MariaDB or of the way there is a
// *providers.UncomparedError.
func (s *session) explain(ctx, limited context.Context, err error) error {
	var (
		silent  *providers.NoAnswerError
		denied  *providers.PermissionError
		refused *mysql.MySQLError
	)
	switch {
	case errors.As(err, &denied):
		return &providers.UncomparedError{Why: denied.Error(), Advice: "kolla rbac prints the rule for pods/portforward that the user lacks. Or leave the comparison out with -registrations=false."}
	case errors.As(err, &silent):
		return &providers.UncomparedError{Why: "MariaDB does not answer: " + silent.Why}
	case errors.As(err, &refused) && slices.Contains([]uint16{accessDenied, accessDeniedPlugin}, refused.Number):
		return &providers.UncomparedError{
			Why:    fmt.Sprintf("MariaDB refuses the password of user %s in Secret %s", s.server.Username, s.server.Password.Name),
			Advice: "Somebody may have changed the password in the database. The catalogue's MariaDB sets it again when it starts: restart its pod.",
		}
	case errors.As(err, &refused):
		return &providers.UncomparedError{Why: fmt.Sprintf("MariaDB answers with error %d: %s", refused.Number, refused.Message)}
	case ctx.Err() == nil && limited.Err() != nil:
		return &providers.UncomparedError{Why: fmt.Sprintf("MariaDB does not answer: nothing came within %s", patience)}
	case errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrMalformPkt), errors.Is(err, mysql.ErrPktSync):
		return &providers.UncomparedError{Why: "MariaDB does not answer: its answer breaks off"}
	}
	return err
}

// listening is a connection that remembers why nothing came. The driver does not say.
type listening struct {
	net.Conn
	failed error
}

// Read implements net.Conn.
func (l *listening) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	var silent *providers.NoAnswerError
	if errors.As(err, &silent) {
		l.failed = silent
	}
	return n, err
}

// once is a connector for one connection, so that the pool does not log in again.
type once struct {
	conn   driver.Conn
	driver driver.Driver
}

// Connect implements driver.Connector.
func (o *once) Connect(context.Context) (driver.Conn, error) {
	if o.conn == nil {
		return nil, mysql.ErrInvalidConn
	}
	conn := o.conn
	o.conn = nil
	return conn, nil
}

// Driver implements driver.Connector.
func (o *once) Driver() driver.Driver { return o.driver }
