// Package mariadbtest has a server that speaks the protocol of MariaDB as far as package
// providers/mariadb uses it: a login with a password, and statements that read a whole table. Its content
// is a [Database], which a test changes. It knows no SQL, and writes nothing: a test with a real server
// checks the statements.
package mariadbtest

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Row is a row of a table, by column. A column that is nil is NULL.
type Row map[string]any

// Database is the content of a server.
type Database struct {
	// Password is that of the user root.
	Password string `json:"password"`
	// Error answers all statements; nil: they succeed.
	Error *Error `json:"error,omitempty"`
	// Refusal answers all logins; nil: those with the password succeed.
	Refusal *Error `json:"refusal,omitempty"`
	// Tables are the tables by their names, with the database: "mysql.db".
	Tables map[string][]Row `json:"tables"`
}

// Error is an error of the server.
type Error struct {
	Number  uint16 `json:"number"`
	Message string `json:"message"`
}

// Find returns the first row of a table with a value in a column.
func (d *Database) Find(table, column string, value any) Row {
	for _, r := range d.Tables[table] {
		if r[column] == value {
			return r
		}
	}
	return nil
}

// Remove removes the rows of a table with a value in a column.
func (d *Database) Remove(table, column string, value any) {
	d.Tables[table] = slices.DeleteFunc(d.Tables[table], func(r Row) bool { return r[column] == value })
}

// Server is a server at the address of its Listener.
type Server struct {
	Listener net.Listener
	read     func() (*Database, error)
	note     func(statement string) error

	mu         sync.Mutex
	statements []string
	open       int
}

// Open returns the number of connections.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

func (s *Server) count(more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += more
}

// Start starts a server at a loopback address. It calls read for each login and statement, and note with
// each: "login root", "SELECT ...". Close of the Listener ends it.
func Start(read func() (*Database, error), note func(statement string) error) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Listener: listener, read: read, note: note}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s, nil
}

// Of starts a server for a test. The test may change the database between statements.
func Of(t testing.TB, d *Database) *Server {
	t.Helper()
	s, err := Start(func() (*Database, error) { return d, nil }, func(string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Listener.Close() })
	return s
}

// Statements returns the logins and statements since the last call.
func (s *Server) Statements() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.statements
	s.statements = nil
	return out
}

func (s *Server) noted(statement string) error {
	s.mu.Lock()
	s.statements = append(s.statements, statement)
	s.mu.Unlock()
	return s.note(statement)
}

// The protocol: https://mariadb.com/kb/en/clientserver-protocol/

const (
	capabilities = 1 | 0x200 | 0x2000 | 0x8000 | 0x80000 // as of MariaDB, without TLS and the end of EOF packets
	plugin       = "mysql_native_password"
	salt         = "0123456789abcdefghij"
	comQuit      = 1
	comQuery     = 3
	varString    = 0xfd
)

var (
	okay   = []byte{0, 0, 0, 2, 0, 0, 0}
	end    = []byte{0xfe, 0, 0, 2, 0}
	reads  = regexp.MustCompile("^SELECT .* FROM ([A-Za-z0-9_.`]+)")
	denied = &Error{1045, "Access denied for user 'root'@'127.0.0.1' (using password: YES)"}
)

// client is the connection of a client.
type client struct {
	net.Conn
	in       *bufio.Reader
	sequence byte
}

// serve talks to a client until one of both ends the connection.
func (s *Server) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	s.count(1)
	defer s.count(-1)
	c := &client{Conn: conn, in: bufio.NewReader(conn)}
	if s.logIn(c) != nil {
		return
	}
	for {
		c.sequence = 0
		packet, err := c.receive()
		if err != nil || len(packet) == 0 || packet[0] == comQuit {
			return
		}
		if packet[0] != comQuery {
			err = c.refuse(&Error{1047, "Unknown command"})
		} else {
			err = s.answer(c, string(packet[1:]))
		}
		if err != nil {
			return
		}
	}
}

func (s *Server) logIn(c *client) error {
	hello := binary.LittleEndian.AppendUint32(append([]byte{10}, "11.4.5-MariaDB\x00"...), 7)
	hello = append(append(hello, salt[:8]...), 0)
	hello = binary.LittleEndian.AppendUint16(hello, capabilities&0xffff)
	hello = append(hello, 45, 2, 0)
	hello = binary.LittleEndian.AppendUint16(hello, capabilities>>16)
	hello = append(append(hello, byte(len(salt)+1)), make([]byte, 10)...)
	hello = append(append(hello, salt[8:]+"\x00"...), plugin+"\x00"...)
	if err := c.send(hello); err != nil {
		return err
	}
	packet, err := c.receive()
	if err != nil {
		return err
	}
	if len(packet) < 32 {
		return io.ErrUnexpectedEOF
	}
	user, rest, _ := bytes.Cut(packet[32:], []byte{0})
	d, err := s.read()
	if err != nil {
		return err
	}
	if err := s.noted("login " + string(user)); err != nil {
		return err
	}
	switch given := scrambled(d.Password); {
	case d.Refusal != nil:
		return errors.Join(c.refuse(d.Refusal), io.EOF)
	case string(user) != "root", len(rest) <= len(given), int(rest[0]) != len(given), !bytes.HasPrefix(rest[1:], given):
		return errors.Join(c.refuse(denied), io.EOF)
	}
	return c.send(okay)
}

// scrambled returns what a client sends in place of a password.
func scrambled(password string) []byte {
	one := sha1.Sum([]byte(password))
	two := sha1.Sum(one[:])
	mixed := sha1.Sum(append([]byte(salt), two[:]...))
	for i := range mixed {
		mixed[i] ^= one[i]
	}
	return mixed[:]
}

// answer answers a statement with a whole table.
func (s *Server) answer(c *client, statement string) error {
	if err := s.noted(statement); err != nil {
		return err
	}
	d, err := s.read()
	if err != nil {
		return err
	}
	if d.Error != nil {
		return c.refuse(d.Error)
	}
	table := ""
	if found := reads.FindStringSubmatch(statement); found != nil {
		table = strings.ReplaceAll(found[1], "`", "")
	}
	rows, ok := d.Tables[table]
	if !ok {
		return c.refuse(&Error{1146, fmt.Sprintf("Table '%s' doesn't exist", table)})
	}
	columns := map[string]bool{}
	for _, r := range rows {
		for column := range r {
			columns[column] = true
		}
	}
	if len(rows) == 0 {
		columns["User"] = true
	}
	names := slices.Sorted(maps.Keys(columns))
	packets := [][]byte{{byte(len(names))}}
	for _, name := range names {
		var p []byte
		for _, text := range []string{"def", "", "", "", name, name} {
			p = appendText(p, text)
		}
		packets = append(packets, append(p, 12, 45, 0, 0, 1, 0, 0, varString, 0, 0, 0, 0, 0))
	}
	packets = append(packets, end)
	for _, r := range rows {
		var p []byte
		for _, name := range names {
			switch v := r[name].(type) {
			case nil:
				p = append(p, 0xfb)
			case string:
				p = appendText(p, v)
			default: // JSON, as in mysql.global_priv
				text, err := json.Marshal(v)
				if err != nil {
					return err
				}
				p = appendText(p, string(text))
			}
		}
		packets = append(packets, p)
	}
	return c.send(append(packets, end)...)
}

// appendText appends a text with its length.
func appendText(p []byte, text string) []byte {
	if len(text) > 250 {
		p = binary.LittleEndian.AppendUint16(append(p, 0xfc), uint16(len(text)))
	} else {
		p = append(p, byte(len(text)))
	}
	return append(p, text...)
}

func (c *client) refuse(e *Error) error {
	return c.send(append(binary.LittleEndian.AppendUint16([]byte{0xff}, e.Number), "#HY000"+e.Message...))
}

func (c *client) send(packets ...[]byte) error {
	var all []byte
	for _, p := range packets {
		all = append(all, byte(len(p)), byte(len(p)>>8), byte(len(p)>>16), c.sequence)
		all = append(all, p...)
		c.sequence++
	}
	_, err := c.Write(all)
	return err
}

func (c *client) receive() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return nil, err
	}
	c.sequence = head[3] + 1
	packet := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	_, err := io.ReadFull(c.in, packet)
	return packet, err
}
