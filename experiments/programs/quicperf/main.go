// Command quicperf sends one QUIC stream as fast as it can: a server writes, a client reads.
package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/big"
	"os"
	"os/signal"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
)

func certificate() tls.Certificate {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		log.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		log.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func serve(ctx context.Context, address string) error {
	config := &tls.Config{Certificates: []tls.Certificate{certificate()}, NextProtos: []string{"perf"}}
	listener, err := quic.ListenAddr(address, config, &quic.Config{Tracer: qlog.DefaultConnectionTracer})
	if err != nil {
		return err
	}
	for {
		conn, err := listener.Accept(ctx)
		if err != nil {
			return nil
		}
		closeAtEnd(ctx, conn)
		go func() {
			stream, err := conn.AcceptStream(ctx)
			if err != nil {
				return
			}
			block := make([]byte, 1<<16)
			for err == nil {
				_, err = stream.Write(block)
			}
		}()
	}
}

func connect(ctx context.Context, address string) error {
	config := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"perf"}}
	conn, err := quic.DialAddr(ctx, address, config, &quic.Config{Tracer: qlog.DefaultConnectionTracer})
	if err != nil {
		return err
	}
	stream, err := conn.OpenStreamSync(ctx)
	if err != nil {
		return err
	}
	if _, err := stream.Write([]byte("go")); err != nil {
		return err
	}
	closeAtEnd(ctx, conn)
	n, _ := io.Copy(io.Discard, stream)
	fmt.Println(n, "bytes")
	return nil
}

func closeAtEnd(ctx context.Context, conn *quic.Conn) {
	go func() { <-ctx.Done(); conn.CloseWithError(0, "done") }()
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := map[string]func(context.Context, string) error{"serve": serve, "connect": connect}[os.Args[1]]
	if err := run(ctx, os.Args[2]); err != nil {
		log.Fatal(err)
	}
	// A connection writes the rest of its qlog after its end, and doesn't say when that is done.
	time.Sleep(100 * time.Millisecond)
}
