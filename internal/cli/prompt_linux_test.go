package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kolla.openstack.org/kolla/internal/cli/command"
)

// terminal is a pseudoterminal with a simulated user.
type terminal struct {
	keyboard, program *os.File
	screen            shared // output of the program and echo of the terminal
}

// shared is a buffer that can be read during a write.
type shared struct {
	mutex sync.Mutex
	bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.Buffer.Write(p)
}

func (s *shared) String() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.Buffer.String()
}

func openTerminal(t *testing.T) *terminal {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatalf("a terminal for the test: %v", err)
	}
	fd := int(keyboard.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{keyboard: keyboard, program: program}
	t.Cleanup(func() { _, _ = keyboard.Close(), program.Close() })
	go func() {
		buffer := make([]byte, 1024)
		for {
			n, err := keyboard.Read(buffer)
			if err != nil {
				return
			}
			_, _ = term.screen.Write(buffer[:n])
		}
	}()
	return term
}

// after waits for a text on the screen, then types an answer.
func (term *terminal) after(t *testing.T, text string, typed string) {
	t.Helper()
	term.sees(t, text)
	if _, err := term.keyboard.WriteString(typed); err != nil {
		t.Fatal(err)
	}
}

func (term *terminal) sees(t *testing.T, text string) {
	t.Helper()
	for range 1000 {
		if strings.Contains(term.screen.String(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%q is not on the screen:\n%s", text, term.screen.String())
}

// echoes reports whether the terminal shows typed characters.
func (term *terminal) echoes(t *testing.T) bool {
	t.Helper()
	settings, err := unix.IoctlGetTermios(int(term.program.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return settings.Lflag&unix.ECHO != 0
}

// runs starts a command that asks for the values of variables.
func (term *terminal) runs(ctx context.Context, t *testing.T) <-chan int {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("cloud.hcl", []byte(`
cloud "c" {
  release = "2025.1"
}

variable "size" {
  type = map(number)
  validation {
    condition     = alltrue([for n in values(var.size) : n < 3])
    error_message = "At most two of each."
  }
}

variable "token" {
  sensitive = true
  validation {
    condition     = length(var.token) > 3
    error_message = "It has at least four characters."
  }
}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	code := make(chan int, 1)
	go func() { code <- Run(ctx, []string{"kolla", "graph"}, term.program, &term.screen, &term.screen) }()
	return code
}

// TestPromptAgain checks that a wrong answer is rejected with the reason and a new question, and
// that sensitive answers are not shown.
func TestPromptAgain(t *testing.T) {
	term := openTerminal(t)
	code := term.runs(context.Background(), t)
	term.after(t, "var.size\n\n  Enter a value: ", "{ a = \"many\" }\n")
	term.after(t, "Not accepted: var.size[\"a\"] must be a number, and this is a string.", "{ a = 5 }\n")
	term.after(t, "which is not shown: ", "h2\n")
	term.after(t, "Not accepted: At most two of each.", "{ a = 1 }\n")
	term.after(t, "Not accepted: It has at least four characters.", "hunteR\x7fr2\n")
	if got := <-code; got != 0 {
		t.Errorf("exit code %d", got)
	}
	term.sees(t, "digraph kolla")
	if shown := term.screen.String(); strings.Contains(shown, "h2") || strings.Contains(shown, "hunter2") || strings.Contains(shown, "Error") || !strings.Contains(shown, "a = 5") {
		t.Errorf("on the screen:\n%s", shown)
	}
	if !term.echoes(t) {
		t.Error("the terminal does not echo any more")
	}
}

// TestPromptEnds checks that an interrupted question prints one error, and restores the terminal.
func TestPromptEnds(t *testing.T) {
	for name, end := range map[string]struct {
		typed, want string
	}{
		"interrupt": {"hunter2\x03", "Error: Interrupted"},
		"signal":    {"", "Error: Interrupted"},
		"no more":   {"\x04", "Error: Interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			term := openTerminal(t)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			code := term.runs(ctx, t)
			term.after(t, "Enter a value: ", "{}\n")
			term.sees(t, "which is not shown: ")
			if term.echoes(t) {
				t.Error("the terminal echoes")
			}
			if end.typed == "" {
				cancel()
			}
			term.after(t, "", end.typed)
			if got := <-code; got != command.ExitError {
				t.Errorf("exit code %d", got)
			}
			term.sees(t, end.want)
			if shown := term.screen.String(); strings.Count(shown, "Error: ") != 1 || strings.Contains(shown, "hunter2") {
				t.Errorf("on the screen:\n%s", shown)
			}
			if !term.echoes(t) {
				t.Error("the terminal does not echo any more")
			}
		})
	}
}

// TestTerminalWidth checks that kolla breaks long lines between words, before the terminal breaks
// them.
func TestTerminalWidth(t *testing.T) {
	const columns = 40
	for _, command := range []string{"graph", "validate", "console"} {
		t.Run(command, func(t *testing.T) {
			term := openTerminal(t)
			if err := unix.IoctlSetWinsize(int(term.program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
				t.Fatal(err)
			}
			t.Setenv("TERM", "xterm")
			t.Chdir(t.TempDir())
			if err := os.WriteFile("cloud.hcl", []byte(`
cloud "c" {
  release = "2025.1"
}

variable "size_of_the_first" {
  description = "How much of it there should be in the end, which may be more than there is now."
  type        = number
}

variable "size_of_the_second" {
  default = 1
}

output "size" {
  value = var.size_of_the_first
}
`), 0o600); err != nil {
				t.Fatal(err)
			}
			code := make(chan int, 1)
			go func() {
				code <- Run(context.Background(), []string{"kolla", command}, term.program, term.program, term.program)
			}()
			want := "How much of it there should be in the\r\n  end, which"
			if command == "validate" {
				want = "What follows from variables without a\r\nvalue was not checked:"
			} else {
				term.after(t, "Enter a value: ", "\"x\"\n")
				term.after(t, "Not accepted: var.size_of_the_first\r\n  must be a number", "1\n")
			}
			if command == "console" {
				term.after(t, "Type an expression, such as\r\ncloud.namespace. \"help\"", "exit\r")
			}
			if got := <-code; got != 0 {
				t.Errorf("exit code %d", got)
			}
			term.sees(t, want)
		})
	}
}
