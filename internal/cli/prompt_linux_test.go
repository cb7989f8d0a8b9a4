package cli

import (
	"context"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/dev/ptytest"
)

// runs starts a command that asks for the values of variables.
func runs(ctx context.Context, t *testing.T, term *ptytest.Terminal) <-chan int {
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
	go func() { code <- Run(ctx, []string{"kolla", "graph"}, term.Program, &term.Screen, &term.Screen) }()
	return code
}

// TestPromptAgain checks that a wrong answer is rejected with the reason and a new question, and
// that sensitive answers are not shown.
func TestPromptAgain(t *testing.T) {
	term := ptytest.Open(t)
	code := runs(context.Background(), t, term)
	term.After(t, "var.size\n\n  Enter a value: ", "{ a = \"many\" }\n")
	term.After(t, "Not accepted: var.size[\"a\"] must be a number, and this is a string.", "{ a = 5 }\n")
	term.After(t, "which is not shown: ", "h2\n")
	term.After(t, "Not accepted: At most two of each.", "{ a = 1 }\n")
	term.After(t, "Not accepted: It has at least four characters.", "hunteR\x7fr2\n")
	if got := <-code; got != 0 {
		t.Errorf("exit code %d", got)
	}
	term.Sees(t, "digraph kolla")
	if shown := term.Screen.String(); strings.Contains(shown, "h2") || strings.Contains(shown, "hunter2") || strings.Contains(shown, "Error") || !strings.Contains(shown, "a = 5") {
		t.Errorf("on the screen:\n%s", shown)
	}
	if !term.Echoes(t) {
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
			term := ptytest.Open(t)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			code := runs(ctx, t, term)
			term.After(t, "Enter a value: ", "{}\n")
			term.Sees(t, "which is not shown: ")
			if term.Echoes(t) {
				t.Error("the terminal echoes")
			}
			if end.typed == "" {
				cancel()
			}
			term.After(t, "", end.typed)
			if got := <-code; got != command.ExitError {
				t.Errorf("exit code %d", got)
			}
			term.Sees(t, end.want)
			if shown := term.Screen.String(); strings.Count(shown, "Error: ") != 1 || strings.Contains(shown, "hunter2") {
				t.Errorf("on the screen:\n%s", shown)
			}
			if !term.Echoes(t) {
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
			term := ptytest.Open(t)
			if err := unix.IoctlSetWinsize(int(term.Program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
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
				code <- Run(context.Background(), []string{"kolla", command}, term.Program, term.Program, term.Program)
			}()
			want := "How much of it there should be in the\r\n  end, which"
			if command == "validate" {
				want = "What follows from variables without a\r\nvalue was not checked:"
			} else {
				term.After(t, "Enter a value: ", "\"x\"\n")
				term.After(t, "Not accepted: var.size_of_the_first\r\n  must be a number", "1\n")
			}
			if command == "console" {
				term.After(t, "Type an expression, such as\r\ncloud.namespace. \"help\"", "exit\r")
			}
			if got := <-code; got != 0 {
				t.Errorf("exit code %d", got)
			}
			term.Sees(t, want)
		})
	}
}
