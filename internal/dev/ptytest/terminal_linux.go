// Package ptytest simulates a user at a terminal.
package ptytest

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Terminal is a pseudoterminal with a simulated user.
type Terminal struct {
	// Program is the side of the program.
	Program *os.File
	// Screen has the output of the program, and the echo of the terminal.
	Screen   Screen
	keyboard *os.File
}

// Screen is a buffer that can be read during a write.
type Screen struct {
	mutex  sync.Mutex
	buffer bytes.Buffer
}

// Write is part of io.Writer.
func (s *Screen) Write(p []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.buffer.Write(p)
}

// String returns all that was written.
func (s *Screen) String() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.buffer.String()
}

// Open opens a terminal, until the test ends.
func Open(t testing.TB) *Terminal {
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
	term := &Terminal{keyboard: keyboard, Program: program}
	t.Cleanup(func() { _, _ = keyboard.Close(), program.Close() })
	go func() {
		buffer := make([]byte, 1024)
		for {
			n, err := keyboard.Read(buffer)
			if err != nil {
				return
			}
			_, _ = term.Screen.Write(buffer[:n])
		}
	}()
	return term
}

// After waits for a text on the screen, then types an answer.
func (term *Terminal) After(t testing.TB, text, typed string) {
	t.Helper()
	term.Sees(t, text)
	if _, err := term.keyboard.WriteString(typed); err != nil {
		t.Fatal(err)
	}
}

// Sees waits for a text on the screen.
func (term *Terminal) Sees(t testing.TB, text string) {
	t.Helper()
	for range 1000 {
		if strings.Contains(term.Screen.String(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%q is not on the screen:\n%s", text, term.Screen.String())
}

// Echoes reports whether the terminal shows typed characters.
func (term *Terminal) Echoes(t testing.TB) bool {
	t.Helper()
	settings, err := unix.IoctlGetTermios(int(term.Program.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return settings.Lflag&unix.ECHO != 0
}
